import { stripVTControlCharacters } from "node:util";

/** Narrower than this, folding only makes a text harder to read. */
const minColumns = 20;

/** Folds lines that are longer than a terminal is wide between their words, with the indent of their line. */
export function foldText(text: string, columns: number | undefined): string {
  if (columns === undefined || columns < minColumns) return text;
  return text
    .split("\n")
    .map((line) => (columnsOf(line) <= columns || isCopied(line) ? line : foldLine(line, columns)))
    .join("\n");
}

/** The words of a text on as few lines as they need; a word that is wider has a line of its own. */
export function foldWords(text: string, columns: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && columnsOf(last) + 1 + columnsOf(word) <= columns) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** Columns that a text takes, without its colours. */
function columnsOf(text: string): number {
  return stripVTControlCharacters(text).length;
}

function foldLine(line: string, columns: number): string {
  const indent = /^ */.exec(line)![0];
  return foldWords(line.slice(indent.length), columns - indent.length)
    .map((folded) => indent + folded)
    .join("\n");
}

/** JSON, and a line with a command in it, are for copying: a line break of ours would be copied too. */
function isCopied(line: string): boolean {
  const plain = stripVTControlCharacters(line);
  return plain.startsWith("{") || /\bstepfold [a-z]+ /.test(plain);
}
