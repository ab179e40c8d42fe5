// RFC 1321 and FIPS 180-4. This is our own code, because expressions are
// evaluated synchronously and the platform's digests are asynchronous.
type Compress = (state: Uint32Array, block: DataView, offset: number) => void;

const rotate = (x: number, by: number): number => (x << by) | (x >>> (32 - by));

/** Pads a message to whole blocks, with a 1 bit, zeros and the length of the message in bits. */
export function padded(bytes: Uint8Array, blockBytes: number, isLittleEndian: boolean): DataView {
  const lengthBytes = blockBytes / 8;
  const view = new DataView(new ArrayBuffer(Math.ceil((bytes.length + 1 + lengthBytes) / blockBytes) * blockBytes));
  new Uint8Array(view.buffer).set(bytes);
  view.setUint8(bytes.length, 0x80);
  const end = view.byteLength;
  view.setUint32(isLittleEndian ? end - 4 : end - 8, Math.floor(bytes.length / 2 ** 29), isLittleEndian);
  view.setUint32(isLittleEndian ? end - 8 : end - 4, bytes.length << 3, isLittleEndian);
  return view;
}

function digest(bytes: Uint8Array, initial: readonly number[], compress: Compress, isLittleEndian = false): Uint8Array {
  const state = Uint32Array.from(initial);
  const view = padded(bytes, 64, isLittleEndian);
  for (let offset = 0; offset < view.byteLength; offset += 64) compress(state, view, offset);
  const result = new DataView(new ArrayBuffer(state.length * 4));
  state.forEach((word, index) => {
    result.setUint32(index * 4, word, isLittleEndian);
  });
  return new Uint8Array(result.buffer);
}

const md5Shifts = [
  [7, 12, 17, 22],
  [5, 9, 14, 20],
  [4, 11, 16, 23],
  [6, 10, 15, 21],
];
const md5Constants = Uint32Array.from({ length: 64 }, (_, index) => Math.floor(Math.abs(Math.sin(index + 1)) * 2 ** 32));

/** MD5 of bytes. */
export function md5(bytes: Uint8Array): Uint8Array {
  return digest(bytes, [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476], compressMd5, true);
}

function compressMd5(state: Uint32Array, block: DataView, offset: number): void {
  let [a, b, c, d] = state as unknown as [number, number, number, number];
  for (let i = 0; i < 64; i++) {
    const round = i >> 4;
    const mixed = [(b & c) | (~b & d), (d & b) | (~d & c), b ^ c ^ d, c ^ (b | ~d)][round]!;
    const index = [i, 5 * i + 1, 3 * i + 5, 7 * i][round]! & 15;
    const sum = (a + mixed + md5Constants[i]! + block.getUint32(offset + index * 4, true)) | 0;
    [a, b, c, d] = [d, (b + rotate(sum, md5Shifts[round]![i & 3]!)) | 0, b, c];
  }
  add(state, [a, b, c, d]);
}

/** SHA-1 of bytes. */
export function sha1(bytes: Uint8Array): Uint8Array {
  return digest(bytes, [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0], compressSha1);
}

const sha1Constants = [0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6];

function compressSha1(state: Uint32Array, block: DataView, offset: number): void {
  const w = new Uint32Array(80);
  for (let i = 0; i < 80; i++) w[i] = i < 16 ? block.getUint32(offset + i * 4) : rotate(w[i - 3]! ^ w[i - 8]! ^ w[i - 14]! ^ w[i - 16]!, 1);
  let [a, b, c, d, e] = state as unknown as [number, number, number, number, number];
  for (let i = 0; i < 80; i++) {
    const round = Math.floor(i / 20);
    const mixed = [(b & c) | (~b & d), b ^ c ^ d, (b & c) | (b & d) | (c & d), b ^ c ^ d][round]!;
    const sum = (rotate(a, 5) + mixed + e + sha1Constants[round]! + w[i]!) | 0;
    [a, b, c, d, e] = [sum, a, rotate(b, 30), c, d];
  }
  add(state, [a, b, c, d, e]);
}

/** Returns the first primes. */
export function primes(howMany: number): number[] {
  const found: number[] = [];
  for (let n = 2; found.length < howMany; n++) if (found.every((prime) => n % prime !== 0)) found.push(n);
  return found;
}

/** The first 32 bits of the fraction of a number. */
const fraction = (x: number): number => Math.floor((x - Math.floor(x)) * 2 ** 32);
/** The constants of SHA-256 are computed for its first digest, so that loading this file takes no time for them. */
let sha256Constants: Uint32Array | null = null;

/** SHA-256 of bytes. */
export function sha256Bytes(bytes: Uint8Array): Uint8Array {
  const initial = primes(8).map((prime) => fraction(Math.sqrt(prime)));
  return digest(bytes, initial, compressSha256);
}

function compressSha256(state: Uint32Array, block: DataView, offset: number): void {
  sha256Constants ??= Uint32Array.from(primes(64), (prime) => fraction(Math.cbrt(prime)));
  const w = new Uint32Array(64);
  for (let i = 0; i < 16; i++) w[i] = block.getUint32(offset + i * 4);
  for (let i = 16; i < 64; i++) {
    const x = w[i - 15]!;
    const y = w[i - 2]!;
    const near = rotate(x, 25) ^ rotate(x, 14) ^ (x >>> 3);
    w[i] = w[i - 16]! + near + w[i - 7]! + (rotate(y, 15) ^ rotate(y, 13) ^ (y >>> 10));
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number];
  for (let i = 0; i < 64; i++) {
    const t1 = (h + (rotate(e, 26) ^ rotate(e, 21) ^ rotate(e, 7)) + ((e & f) ^ (~e & g)) + sha256Constants[i]! + w[i]!) | 0;
    const t2 = ((rotate(a, 30) ^ rotate(a, 19) ^ rotate(a, 10)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + t2) | 0];
  }
  add(state, [a, b, c, d, e, f, g, h]);
}

function add(state: Uint32Array, words: readonly number[]): void {
  words.forEach((word, index) => {
    state[index] = state[index]! + word;
  });
}
