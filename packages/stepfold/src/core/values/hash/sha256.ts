// SHA-256 (FIPS 180-4) is implemented here, because the pure layers may not use functions of a platform, and the digest of WebCrypto is
// asynchronous.
/** The constants of SHA-256. They are computed at the first digest, so that importing the library takes no time for them. */
let constants: { readonly start: Uint32Array; readonly round: Uint32Array } | null = null;

function allConstants(): NonNullable<typeof constants> {
  constants ??= {
    start: Uint32Array.from(primes(8), (prime) => fraction(Math.sqrt(prime))),
    round: Uint32Array.from(primes(64), (prime) => fraction(Math.cbrt(prime))),
  };
  return constants;
}

function primes(howMany: number): number[] {
  const found: number[] = [];
  for (let n = 2; found.length < howMany; n++) if (found.every((prime) => n % prime !== 0)) found.push(n);
  return found;
}

/** Returns the first 32 bits of the fractional part. */
function fraction(x: number): number {
  return Math.floor((x - Math.floor(x)) * 2 ** 32);
}

/** SHA-256 of text in UTF-8, as 64 hexadecimal digits. */
export function sha256(text: string): string {
  const bytes = utf8(text);
  const blocks = new Uint8Array(((bytes.length + 9 + 63) >> 6) << 6);
  blocks.set(bytes);
  blocks[bytes.length] = 0x80;
  const view = new DataView(blocks.buffer);
  view.setUint32(blocks.length - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(blocks.length - 4, bytes.length << 3);
  const hash = allConstants().start.slice();
  const w = new Uint32Array(64);
  for (let offset = 0; offset < blocks.length; offset += 64) compress(hash, w, view, offset);
  return Array.from(hash, (word) => word.toString(16).padStart(8, "0")).join("");
}

function compress(hash: Uint32Array, w: Uint32Array, view: DataView, offset: number): void {
  for (let i = 0; i < 16; i++) w[i] = view.getUint32(offset + i * 4);
  for (let i = 16; i < 64; i++) {
    const a = w[i - 15]!;
    const b = w[i - 2]!;
    w[i] = w[i - 16]! + (rotate(a, 7) ^ rotate(a, 18) ^ (a >>> 3)) + w[i - 7]! + (rotate(b, 17) ^ rotate(b, 19) ^ (b >>> 10));
  }
  const k = allConstants().round;
  let [a, b, c, d, e, f, g, h] = hash as unknown as [number, number, number, number, number, number, number, number];
  for (let i = 0; i < 64; i++) {
    const t1 = (h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + k[i]! + w[i]!) | 0;
    const t2 = ((rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + t1) | 0;
    d = c;
    c = b;
    b = a;
    a = (t1 + t2) | 0;
  }
  for (const [i, word] of [a, b, c, d, e, f, g, h].entries()) hash[i] = hash[i]! + word;
}

function rotate(x: number, by: number): number {
  return (x >>> by) | (x << (32 - by));
}

/** The bits with which the first byte of a UTF-8 character begins, by the number of bytes that follow. */
const leads = [0, 0xc0, 0xe0, 0xf0] as const;

function utf8(text: string): Uint8Array {
  // a UTF-16 code unit takes at most three bytes in UTF-8
  const bytes = new Uint8Array(3 * text.length);
  let length = 0;
  for (let i = 0; i < text.length; i++) {
    const point = text.codePointAt(i)!;
    const more = point < 0x80 ? 0 : point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    bytes[length++] = leads[more] | (point >> (6 * more));
    for (let left = more - 1; left >= 0; left--) bytes[length++] = 0x80 | ((point >> (6 * left)) & 63);
    // the character took two UTF-16 code units
    if (more === 3) i++;
  }
  return bytes.subarray(0, length);
}
