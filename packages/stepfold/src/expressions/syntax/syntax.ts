/** The position of a piece of syntax in the source; `end` is just after it. */
interface Span {
  readonly start: number;
  readonly end: number;
}

/** A parsed expression. */
export type Expression =
  | Literal
  | Name
  | Member
  | Chain
  | Call
  | Required
  | PatternLiteral
  | Unary
  | Binary
  | Logical
  | Conditional
  | TemplateText
  | ArrayLiteral
  | ObjectLiteral;

export interface Literal extends Span {
  readonly kind: "literal";
  readonly value: string | number | boolean | null | undefined;
}

export interface Name extends Span {
  readonly kind: "name";
  readonly name: string;
}

export interface Member extends Span {
  readonly kind: "member";
  readonly object: Expression;
  /** A string if the source names the key: `a.b`, `a["b"]`, `a[0]`; else the expression that computes it. */
  readonly key: string | Expression;
  readonly optional: boolean;
  /** The position of the key. */
  readonly at: number;
}

/** The whole of an optional chain: a `?.` on null or undefined skips everything up to the end of the chain. */
interface Chain extends Span {
  readonly kind: "chain";
  readonly expression: Expression;
}

export interface Call extends Span {
  readonly kind: "call";
  /** The value that a method is called on; null for a function such as `Number(x)`. */
  readonly receiver: Expression | null;
  readonly name: string;
  readonly optional: boolean;
  readonly callback: Arrow | null;
  /** The arguments without the callback. */
  readonly items: readonly ListItem[];
  /** The position of the name. */
  readonly at: number;
}

/** `a!`: a value that must not be null or undefined. */
export interface Required extends Span {
  readonly kind: "required";
  readonly operand: Expression;
}

/** A regular expression, such as `/a+/gi`. */
export interface PatternLiteral extends Span {
  readonly kind: "pattern";
  readonly source: string;
  readonly flags: string;
}

/** `x => body`; it is allowed only as the first argument of an array helper. */
export interface Arrow extends Span {
  readonly kind: "arrow";
  readonly params: readonly string[];
  readonly body: Expression;
  /** The number of syntax nodes in the body. */
  readonly size: number;
}

/** An argument or array item. */
export interface ListItem {
  readonly spread: boolean;
  readonly value: Expression;
}

export interface Unary extends Span {
  readonly kind: "unary";
  readonly operator: "!" | "-" | "+" | "typeof";
  readonly operand: Expression;
}

export interface Binary extends Span {
  readonly kind: "binary";
  readonly operator: BinaryOperator;
  readonly left: Expression;
  readonly right: Expression;
  /** The position of the operator. */
  readonly at: number;
}

export type BinaryOperator = "+" | "-" | "*" | "/" | "%" | "**" | "==" | "!=" | "===" | "!==" | "<" | "<=" | ">" | ">=" | "in";

export interface Logical extends Span {
  readonly kind: "logical";
  readonly operator: "&&" | "||" | "??";
  readonly left: Expression;
  readonly right: Expression;
}

export interface Conditional extends Span {
  readonly kind: "conditional";
  readonly test: Expression;
  readonly then: Expression;
  readonly otherwise: Expression;
}

export interface TemplateText extends Span {
  readonly kind: "text";
  /** The texts around the values; there is one more text than values. */
  readonly texts: readonly string[];
  readonly values: readonly Expression[];
}

export interface ArrayLiteral extends Span {
  readonly kind: "array";
  readonly items: readonly ListItem[];
}

export interface ObjectLiteral extends Span {
  readonly kind: "object";
  readonly entries: readonly Entry[];
}

/** One member of an object literal; `key` is null for a spread. `at` is the position of the key, or of the `...`. */
export interface Entry {
  readonly key: string | Expression | null;
  readonly value: Expression;
  readonly at: number;
}
