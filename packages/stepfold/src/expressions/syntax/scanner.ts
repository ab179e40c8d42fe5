import { refuseExpression } from "../evaluation/frame.ts";

/** A token of the source. For strings and the texts of template strings, `text` holds the decoded text. */
export interface Token {
  readonly kind: "number" | "string" | "name" | "pattern" | "punctuator" | "text" | "end";
  readonly text: string;
  /** `start` and `end` are counted from the start of the expression; `end` is just after the token. */
  readonly start: number;
  readonly end: number;
}

/** The state of a tokenizer. Its own positions count from the start of `text`, the positions of tokens from `from`. */
export interface Scanner {
  readonly text: string;
  /** Start of the expression. */
  readonly from: number;
  /** True inside `{{ }}`: the expression ends at the `}}` that closes it. */
  readonly embedded: boolean;
  readonly tokens: Token[];
  /** The punctuators that are open: `{`, or a backtick for a `${` of a template string. */
  readonly open: string[];
  index: number;
}

/** Adds a token that ends at the scanner's position. */
export function emit(scanner: Scanner, kind: Token["kind"], text: string, start: number): void {
  scanner.tokens.push({ kind, text, start: start - scanner.from, end: scanner.index - scanner.from });
}

/** Refuses the expression with an error that points at `position` in the text. */
export function refuse(scanner: Scanner, position: number, reason: string): never {
  const close = scanner.text.indexOf("}}", position);
  const end = scanner.embedded && close !== -1 ? close : scanner.text.length;
  refuseExpression(scanner.text.slice(scanner.from, end).trimEnd() || "{{", position - scanner.from, reason);
}
