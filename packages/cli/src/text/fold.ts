import { stripVTControlCharacters } from "node:util";

/** On a terminal with fewer columns, folding only makes a text harder to read. */
const minColumns = 20;

/** Folds lines that are wider than the terminal, between words. The new lines have the indent of the folded line. */
export function foldText(text: string, columns: number | undefined): string {
  if (columns === undefined || columns < minColumns) return text;
  return text
    .split("\n")
    .map((line) => (columnsOf(line) <= columns || isCopied(line) ? line : foldLine(line, columns)))
    .join("\n");
}

/** Puts the words of a text on as few lines as possible. A word that is wider than a line gets a line of its own. */
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

/** Whether a line is meant to be copied: JSON, or a line with a command. It is not folded, because line breaks would be copied too. */
function isCopied(line: string): boolean {
  const plain = stripVTControlCharacters(line);
  return plain.startsWith("{") || /\bstepfold [a-z]+ /.test(plain);
}
