/** Returns a 32-bit hash of a text: FNV-1a with a final mix. It distributes well, but is not cryptographic. */
export function hash32(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Returns a number in [0, 1) that depends only on the seed. */
export function seededShare(seed: string): number {
  return hash32(seed) / 2 ** 32;
}
