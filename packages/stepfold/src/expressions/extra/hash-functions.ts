import { charge, type Frame, failEvaluation, grow } from "../evaluation/frame.ts";
import { type CallSite, type ListedFunction, textAt } from "../functions/argument.ts";
import { utf8 } from "./bytes.ts";
import { md5, sha1, sha256Bytes } from "./digest.ts";
import { sha384, sha512 } from "./sha512.ts";

type Digest = (bytes: Uint8Array) => Uint8Array;

/** The digests by name. MD5 and SHA-1 are there for services that require them; they protect nothing. */
const digests: ReadonlyMap<string, Digest> = new Map([
  ["md5", md5],
  ["sha1", sha1],
  ["sha256", sha256Bytes],
  ["sha384", sha384],
  ["sha512", sha512],
]);

/** Bytes as hexadecimal digits. */
export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Pays for a digest. A letter takes about a tenth of a microsecond, ten times as long with 64-bit words (SHA-384 and SHA-512). */
function payDigest(frame: Frame, text: string, isWide = false): void {
  charge(frame, 8 + text.length / (isWide ? 2 : 16));
  grow(frame, 128);
}

/** The length of the longest name of a digest. */
const maxNameLength = "sha-512".length;

function digest(frame: Frame, { position }: CallSite, text: string, name: string): string {
  const run = name.length > maxNameLength ? undefined : digests.get(name.toLowerCase().replace(/^sha-/, "sha"));
  if (run === undefined) failEvaluation(frame, position, `hash needs one of ${[...digests.keys()].join(", ")}`);
  payDigest(frame, text, run === sha384 || run === sha512);
  return hex(run(utf8(text)));
}

/** The block size of SHA-256, which HMAC needs. */
const blockBytes = 64;

function hmacSha256(key: Uint8Array, message: Uint8Array): Uint8Array {
  const short = key.length > blockBytes ? sha256Bytes(key) : key;
  const padded = (mask: number): Uint8Array => Uint8Array.from({ length: blockBytes }, (_, index) => (short[index] ?? 0) ^ mask);
  return sha256Bytes(joined(padded(0x5c), sha256Bytes(joined(padded(0x36), message))));
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(first.length + second.length);
  bytes.set(first);
  bytes.set(second, first.length);
  return bytes;
}

/** Functions that return the hexadecimal digest of a text in UTF-8. */
export const hashFunctions: readonly (readonly [string, ListedFunction])[] = [
  ...[...digests.keys()].map((name): readonly [string, ListedFunction] => [
    `hash.${name}`,
    (frame, site, _, args) => digest(frame, site, textAt(frame, site, args, 0), name),
  ]),
  [
    "hash.hmacSha256",
    (frame, site, _, args) => {
      const [text, key] = [textAt(frame, site, args, 0), textAt(frame, site, args, 1)];
      payDigest(frame, text);
      payDigest(frame, key);
      return hex(hmacSha256(utf8(key), utf8(text)));
    },
  ],
  ["hash", (frame, site, self, args) => digest(frame, site, textAt(frame, site, [self], 0), textAt(frame, site, args, 0, "md5"))],
];
