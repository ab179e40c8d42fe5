/** An argument as the user's shell takes it. */
export function shellQuote(argument: string, platform: NodeJS.Platform = process.platform): string {
  if (/^[\w@%+=:,./-]+$/.test(argument)) return argument;
  if (platform !== "win32") return `'${argument.replaceAll("'", "'\\''")}'`;
  // backslashes count only before a double quote
  return `"${argument.replace(/(\\*)"/g, '$1$1\\"').replace(/\\+$/, "$&$&")}"`;
}

/** A whole command line. */
export function shellLine(words: readonly string[]): string {
  return words.map((word) => shellQuote(word)).join(" ");
}
