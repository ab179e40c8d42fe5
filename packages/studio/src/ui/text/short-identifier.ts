const [maxLength, headLength, tailLength] = [24, 4, 8];

/** Shortens a long id. Ids made by time are alike at the front, so its end is what distinguishes it. */
export function shortIdentifier(id: string): string {
  // by characters, so that no surrogate pair is torn
  const characters = [...id];
  if (characters.length <= maxLength) return id;
  return `${characters.slice(0, headLength).join("")}…${characters.slice(-tailLength).join("")}`;
}

/** The beginning of the hash of a definition, as people see it: `#9f2c`. */
export function shortHash(hash: string): string {
  return `#${hash.slice(0, 4)}`;
}
