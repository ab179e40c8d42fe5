import { refuseExpression } from "../evaluation/frame.ts";

/** A piece of source. `text` holds the decoded text of strings and template chunks. */
export interface Token {
  readonly kind: "number" | "string" | "name" | "pattern" | "sign" | "text" | "end";
  readonly text: string;
  /** Counted from the start of the expression. */
  readonly start: number;
  readonly end: number;
}

/** Where a tokenizer stands. Positions in it count from the start of `text`; those of tokens from `from`. */
export interface Scanner {
  readonly text: string;
  /** Start of the expression. */
  readonly from: number;
  /** Inside `{{ }}`: the expression ends at the `}}` that closes it. */
  readonly embedded: boolean;
  readonly tokens: Token[];
  /** What is open: `{`, or a backtick whose `${` is open. */
  readonly open: string[];
  index: number;
}

/** Adds the token that ends where the scanner stands. */
export function emit(scanner: Scanner, kind: Token["kind"], text: string, start: number): void {
  scanner.tokens.push({ kind, text, start: start - scanner.from, end: scanner.index - scanner.from });
}

/** Ends tokenizing at `position` of the text. */
export function refuse(scanner: Scanner, position: number, reason: string): never {
  const close = scanner.text.indexOf("}}", position);
  const end = scanner.embedded && close !== -1 ? close : scanner.text.length;
  refuseExpression(scanner.text.slice(scanner.from, end).trimEnd() || "{{", position - scanner.from, reason);
}
