/** An argument as the user's shell takes it. */
export function shellQuote(argument: string, platform: NodeJS.Platform = process.platform): string {
  if (/^[\w@%+=:,./-]+$/.test(argument)) return argument;
  if (platform !== "win32" && unprintable.test(argument))
    return `$'${argument.replace(/['\\]/g, "\\$&").replace(everyUnprintable, ansiEscape)}'`;
  if (platform !== "win32") return `'${argument.replaceAll("'", "'\\''")}'`;
  // backslashes count only before a double quote
  return `"${argument.replace(/(\\*)"/g, '$1$1\\"').replace(/\\+$/, "$&$&")}"`;
}

const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
const everyUnprintable = new RegExp(unprintable, "gu");

/** As `$'...'` of a shell takes it: the argument is the same, and nothing of it reaches the terminal. */
function ansiEscape(char: string): string {
  const code = char.codePointAt(0)!.toString(16);
  return `\\U${code.padStart(8, "0")}`;
}

/** A whole command line. */
export function shellLine(words: readonly string[]): string {
  return words.map((word) => shellQuote(word)).join(" ");
}
