"""Writes every case of ../more anew."""

import gen_decoder
import gen_encoder
import gen_gpt2
import gen_llama
import gen_moe
import gen_pointwise
import gen_positions

for module in (gen_encoder, gen_decoder, gen_gpt2, gen_llama, gen_moe, gen_positions, gen_pointwise):
    module.main()
