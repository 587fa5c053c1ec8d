# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs inside the SGLang venv: write the tiny models with weights from a seed and a byte-level tokenizer."""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

CHAT_TEMPLATE = (
    "{% for message in messages %}{{ message['role'] }}: {{ message['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant: {% endif %}"
)


def tokenizer() -> PreTrainedTokenizerFast:
    """The 256 byte-level characters and three special tokens; no merges."""
    vocabulary = {character: index for index, character in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    bytes_only = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    bytes_only.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bytes_only.decoder = decoders.ByteLevel()
    bytes_only.add_special_tokens([AddedToken(token, special=True) for token in ("<bos>", "<eos>", "<pad>")])
    fast = PreTrainedTokenizerFast(
        tokenizer_object=bytes_only, bos_token="<bos>", eos_token="<eos>", pad_token="<pad>", model_max_length=2048
    )
    fast.chat_template = CHAT_TEMPLATE
    return fast


def speak_letters(model: GPT2LMHeadModel, words: PreTrainedTokenizerFast) -> None:
    """Make the random model's greedy answers readable: letters and blanks that change from position to position.

    Only their rows of the (tied) embedding are not zero, so no other token can win; and the position outweighs
    the last token, so that no answer is one letter for ever.
    """
    letters = words.convert_tokens_to_ids(words.tokenize("abcdefghijklmnopqrstuvwxyz "))
    keep = torch.zeros(model.config.vocab_size, 1)
    keep[letters] = 1
    model.transformer.wte.weight.data *= keep
    model.transformer.wpe.weight.data *= 50


def main(root: Path) -> None:
    torch.manual_seed(23)
    words = tokenizer()
    ids = {"bos_token_id": 256, "eos_token_id": 257, "pad_token_id": 258}
    gpt2 = GPT2LMHeadModel(GPT2Config(vocab_size=260, n_positions=2048, n_embd=128, n_layer=2, n_head=4, **ids))
    speak_letters(gpt2, words)
    llama = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=260,
            hidden_size=128,
            intermediate_size=256,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=4,
            max_position_embeddings=2048,
            **ids,
        )
    )
    for name, model in (("tiny-gpt2", gpt2), ("tiny-llama", llama)):
        model.to(torch.bfloat16).save_pretrained(root / name, max_shard_size="300KB")
        words.save_pretrained(root / name)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
