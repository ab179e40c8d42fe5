import { padded, primes } from "./digest.ts";

// FIPS 180-4. Each 64-bit word is stored as two 32-bit halves, which is twenty times as fast as bigint.
const blockBytes = 128;
const rounds = 80;

/** Returns the first 64 bits of the fraction of a prime's square root or cube root, by Newton's method. */
function fractionOf(prime: number, degree: 2n | 3n): bigint {
  const scaled = BigInt(prime) << (64n * degree);
  let root = 1n << 70n;
  for (;;) {
    const better = degree === 2n ? (root + scaled / root) / 2n : (2n * root + scaled / (root * root)) / 3n;
    if (better >= root) return root & 0xffffffffffffffffn;
    root = better;
  }
}

function split(words: readonly bigint[]): Uint32Array {
  return Uint32Array.from(words.flatMap((word) => [Number(word >> 32n), Number(word & 0xffffffffn)]));
}

interface Constants {
  readonly ofRounds: Uint32Array;
  readonly initial512: Uint32Array;
  readonly initial384: Uint32Array;
}

let known: Constants | null = null;

/** Returns the constants. They are computed for the first digest, because computing them takes longer than loading this file. */
function constants(): Constants {
  known ??= {
    ofRounds: split(primes(rounds).map((prime) => fractionOf(prime, 3n))),
    initial512: split(primes(8).map((prime) => fractionOf(prime, 2n))),
    initial384: split(
      primes(16)
        .slice(8)
        .map((prime) => fractionOf(prime, 2n)),
    ),
  };
  return known;
}

/** SHA-512 of bytes. */
export function sha512(bytes: Uint8Array): Uint8Array {
  return digest(bytes, constants().initial512);
}

/** SHA-384 of bytes. */
export function sha384(bytes: Uint8Array): Uint8Array {
  return digest(bytes, constants().initial384).subarray(0, 48);
}

function digest(bytes: Uint8Array, initial: Uint32Array): Uint8Array {
  const state = Uint32Array.from(initial);
  const view = padded(bytes, blockBytes, false);
  for (let offset = 0; offset < view.byteLength; offset += blockBytes) compress(state, view, offset);
  const result = new DataView(new ArrayBuffer(64));
  state.forEach((word, index) => {
    result.setUint32(index * 4, word);
  });
  return new Uint8Array(result.buffer);
}

/** Returns the high half of a word that is rotated to the right. With the halves swapped it returns the low half. */
function turned(high: number, low: number, by: number): number {
  return by < 32 ? (high >>> by) | (low << (32 - by)) : (low >>> (by - 32)) | (high << (64 - by));
}

/** Returns the exclusive or of three rotations of a word. A negative third number is a shift instead of a rotation. */
function mix(high: number, low: number, first: number, second: number, third: number): readonly [number, number] {
  const last =
    third > 0 ? [turned(high, low, third), turned(low, high, third)] : [high >>> -third, (low >>> -third) | (high << (32 + third))];
  return [turned(high, low, first) ^ turned(high, low, second) ^ last[0]!, turned(low, high, first) ^ turned(low, high, second) ^ last[1]!];
}

/** Adds 64-bit words; each is given as its high half and its low half. */
function sum(...halves: readonly number[]): readonly [number, number] {
  let [high, low] = [0, 0];
  for (let index = 0; index < halves.length; index += 2) {
    high += halves[index]! >>> 0;
    low += halves[index + 1]! >>> 0;
  }
  return [(high + Math.floor(low / 2 ** 32)) | 0, low | 0];
}

function compress(state: Uint32Array, block: DataView, offset: number): void {
  const w = new Int32Array(2 * rounds);
  for (let i = 0; i < 32; i++) w[i] = block.getInt32(offset + 4 * i);
  for (let i = 32; i < w.length; i += 2) {
    const near = mix(w[i - 30]!, w[i - 29]!, 1, 8, -7);
    const far = mix(w[i - 4]!, w[i - 3]!, 19, 61, -6);
    [w[i], w[i + 1]] = sum(w[i - 32]!, w[i - 31]!, ...near, w[i - 14]!, w[i - 13]!, ...far) as [number, number];
  }
  const v = Int32Array.from(state);
  const { ofRounds } = constants();
  for (let i = 0; i < w.length; i += 2) {
    const [ah, al, bh, bl, ch, cl] = v as unknown as [number, number, number, number, number, number];
    const [eh, el, fh, fl, gh, gl] = v.subarray(8) as unknown as [number, number, number, number, number, number];
    const choice = [(eh & fh) ^ (~eh & gh), (el & fl) ^ (~el & gl)] as const;
    const first = sum(v[14]!, v[15]!, ...mix(eh, el, 14, 18, 41), ...choice, ofRounds[i]!, ofRounds[i + 1]!, w[i]!, w[i + 1]!);
    const majority = [(ah & bh) ^ (ah & ch) ^ (bh & ch), (al & bl) ^ (al & cl) ^ (bl & cl)] as const;
    const second = sum(...mix(ah, al, 28, 34, 39), ...majority);
    v.copyWithin(2, 0, 14);
    [v[8], v[9]] = sum(v[8]!, v[9]!, ...first) as [number, number];
    [v[0], v[1]] = sum(...first, ...second) as [number, number];
  }
  for (let i = 0; i < 16; i += 2) [state[i], state[i + 1]] = sum(state[i]!, state[i + 1]!, v[i]!, v[i + 1]!) as [number, number];
}
