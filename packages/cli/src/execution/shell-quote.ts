/** Quotes an argument for the user's shell. */
export function shellQuote(argument: string, platform: NodeJS.Platform = process.platform): string {
  if (/^[\w@%+=:,./-]+$/.test(argument)) return argument;
  if (platform !== "win32" && unprintable.test(argument))
    return `$'${argument.replace(/['\\]/g, "\\$&").replace(everyUnprintable, ansiEscape)}'`;
  if (platform !== "win32") return `'${argument.replaceAll("'", "'\\''")}'`;
  // on Windows, backslashes are special only before a double quote, which also follows the last one
  return `"${argument.replace(/(\\*)"/g, '$1$1\\"').replace(/\\+$/, "$&$&")}"`;
}

const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
const everyUnprintable = new RegExp(unprintable, "gu");

/** Escapes a character for `$'...'`. The shell gets the same argument, and the character itself never reaches the terminal. */
function ansiEscape(char: string): string {
  const code = char.codePointAt(0)!.toString(16);
  return `\\U${code.padStart(8, "0")}`;
}

/** Quotes words and joins them to a command line. */
export function shellLine(words: readonly string[]): string {
  return words.map((word) => shellQuote(word)).join(" ");
}
