// AES-256 in XTS mode (FIPS 197, IEEE 1619) for sectors of 512 bytes.
//
// A column of the state is a word whose lowest byte is row 0. The tables come from the host (aes.cpp): `rounds` has
// SubBytes and MixColumns of a byte in row 0, and `last` has SubBytes alone; or their inverses. Rotating a word of
// `rounds` gives the same for the other rows.

#define ROUNDS 14
#define BLOCKS_OF_SECTOR 32

// One block. Row r of a column comes from the column r places further on (ShiftRows), or back (STEP 3, the inverse).
#define FROM(state, column, row, STEP) (((state)[((column) + (row) * (STEP)) & 3] >> (8 * (row))) & 0xff)
#define ROUND(to, from, column, STEP)                                   \
  to[column] = rounds[FROM(from, column, 0, STEP)] ^                    \
               rotate(rounds[FROM(from, column, 1, STEP)], 8u) ^        \
               rotate(rounds[FROM(from, column, 2, STEP)], 16u) ^       \
               rotate(rounds[FROM(from, column, 3, STEP)], 24u) ^ key[4 * round + (column)]
#define LAST(to, from, column, STEP)                                    \
  to[column] = ((uint)last[FROM(from, column, 0, STEP)] |               \
                (uint)last[FROM(from, column, 1, STEP)] << 8 |          \
                (uint)last[FROM(from, column, 2, STEP)] << 16 |         \
                (uint)last[FROM(from, column, 3, STEP)] << 24) ^        \
               key[4 * ROUNDS + (column)]
#define CIPHER(NAME, STEP)                                                                                       \
  uint4 NAME(uint4 block, constant const uint* key, local const uint* rounds, local const uchar* last) {         \
    uint state[4] = {block.x ^ key[0], block.y ^ key[1], block.z ^ key[2], block.w ^ key[3]};                    \
    uint next[4];                                                                                                \
    for (int round = 1; round < ROUNDS; ++round) {                                                               \
      ROUND(next, state, 0, STEP);                                                                               \
      ROUND(next, state, 1, STEP);                                                                               \
      ROUND(next, state, 2, STEP);                                                                               \
      ROUND(next, state, 3, STEP);                                                                               \
      for (int column = 0; column < 4; ++column) state[column] = next[column];                                   \
    }                                                                                                            \
    LAST(next, state, 0, STEP);                                                                                  \
    LAST(next, state, 1, STEP);                                                                                  \
    LAST(next, state, 2, STEP);                                                                                  \
    LAST(next, state, 3, STEP);                                                                                  \
    return (uint4)(next[0], next[1], next[2], next[3]);                                                          \
  }

CIPHER(encrypt_block, 1)
CIPHER(decrypt_block, 3)

// Brings the tables to local memory, where work-items read different places of them at the same time.
void take_tables(global const uint* all_rounds, global const uchar* all_last, local uint* rounds, local uchar* last) {
  for (size_t i = get_local_id(0); i < 256; i += get_local_size(0)) {
    rounds[i] = all_rounds[i];
    last[i] = all_last[i];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

// The tweaks of the first blocks of sectors: their numbers, encrypted with the second key.
kernel void first_tweaks(global uint4* tweaks, ulong sector, ulong sectors, constant const uint* key,
                         global const uint* all_rounds, global const uchar* all_last) {
  local uint rounds[256];
  local uchar last[256];
  take_tables(all_rounds, all_last, rounds, last);
  const size_t i = get_global_id(0);
  if (i >= sectors) return;
  const ulong number = sector + i;
  tweaks[i] = encrypt_block((uint4)((uint)number, (uint)(number >> 32), 0, 0), key, rounds, last);
}

// The tweak of a block: that of the first block, multiplied by x^j in GF(2^128) modulo x^128 + x^7 + x^2 + x + 1. What
// leaves the top has fewer than 32 bits, and comes back at the bottom.
uint4 tweak_of(uint4 first, uint j) {
  const ulong low = upsample(first.y, first.x), high = upsample(first.w, first.z);
  const ulong carry = j == 0 ? 0 : high >> (64 - j);
  const ulong new_high = j == 0 ? high : high << j | low >> (64 - j);
  const ulong new_low = low << j ^ carry ^ carry << 1 ^ carry << 2 ^ carry << 7;
  return (uint4)((uint)new_low, (uint)(new_low >> 32), (uint)new_high, (uint)(new_high >> 32));
}

#define XTS(NAME, CIPHER_OF_BLOCK)                                                                               \
  kernel void NAME(global uint4* data, global const uint4* tweaks, ulong blocks, constant const uint* key,       \
                   global const uint* all_rounds, global const uchar* all_last) {                                \
    local uint rounds[256];                                                                                      \
    local uchar last[256];                                                                                       \
    take_tables(all_rounds, all_last, rounds, last);                                                             \
    const size_t i = get_global_id(0);                                                                           \
    if (i >= blocks) return;                                                                                     \
    const uint4 tweak = tweak_of(tweaks[i / BLOCKS_OF_SECTOR], i % BLOCKS_OF_SECTOR);                            \
    data[i] = CIPHER_OF_BLOCK(data[i] ^ tweak, key, rounds, last) ^ tweak;                                       \
  }

XTS(encrypt_sectors, encrypt_block)
XTS(decrypt_sectors, decrypt_block)
