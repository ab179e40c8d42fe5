import { isForbiddenKey } from "../evaluation/forbidden-key.ts";
import { type Cursor, countNode, expect, isPunctuator, next, peek, previousEnd, refuseAt, takePunctuator, unexpected } from "./cursor.ts";
import type { Token } from "./scanner.ts";
import type { Expression } from "./syntax.ts";

const maxParams = 3;

/** The most tokens that the parameters of an arrow function may have, brackets included. */
export const maxParamTokens = 80;

/** Punctuators that may stand in the parameters of an arrow function. */
export const paramPunctuators: ReadonlySet<string> = new Set(["(", ")", "[", "]", "{", "}", ",", ":"]);

/** Builds the expression for the value that a name is destructured from: a parameter or a member of it. */
type Part = (cursor: Cursor, at: Token) => Expression;

/** The parameters read so far. */
interface Params {
  /** Null for the name of a whole parameter; for a destructured name, the function that builds the expression that the name stands for. */
  readonly destructured: Map<string, Part | null>;
}

/**
 * Parses the parameters of an arrow function; the cursor stands at the first one. Destructured names, as in `([key, { id }]) =>`, are
 * added to `cursor.destructured`: in the body the parser replaces them by members of the parameter. So only the parser knows such names, and
 * they read exactly the paths of those members.
 */
export function parseParams(cursor: Cursor): readonly string[] {
  const params: Params = { destructured: new Map() };
  const names: string[] = [];
  if (peek(cursor).kind === "name") names.push(parseParam(cursor, params));
  else {
    const { start } = next(cursor);
    while (!takePunctuator(cursor, ")")) {
      names.push(parseParam(cursor, params));
      separate(cursor, ")");
    }
    if (names.length > maxParams) refuseAt(cursor, start, `an arrow function has at most ${maxParams} parameters`);
  }
  const destructured = new Map(cursor.destructured);
  for (const [name, part] of params.destructured) {
    // The name of a whole parameter hides a destructured name of an outer arrow function.
    if (part === null) destructured.delete(name);
    else destructured.set(name, part);
  }
  cursor.destructured = destructured;
  return names;
}

function parseParam(cursor: Cursor, params: Params): string {
  const token = peek(cursor);
  if (token.kind === "name") return declare(cursor, params, null);
  if (!isPunctuator(cursor, "[") && !isPunctuator(cursor, "{")) unexpected(cursor, "the name of a parameter");
  // No name in the source can contain `#`, so this name is unique.
  const name = `#${token.start}`;
  let end = token.end;
  const whole: Part = (at) => countNode(at, { kind: "name", name, start: token.start, end });
  takeApart(cursor, params, whole);
  end = previousEnd(cursor);
  return name;
}

/** Parses `[a, , b]` or `{ a, b: c }`. */
function takeApart(cursor: Cursor, params: Params, whole: Part): void {
  const close = next(cursor).text === "[" ? "]" : "}";
  for (let index = 0; !takePunctuator(cursor, close); index++) {
    if (close === "}") takeMember(cursor, params, whole);
    else if (!isPunctuator(cursor, ",")) takePart(cursor, params, member(whole, String(index)));
    separate(cursor, close);
  }
}

function takeMember(cursor: Cursor, params: Params, whole: Part): void {
  const token = peek(cursor);
  if (token.kind !== "name") unexpected(cursor, "the name of a member");
  if (isForbiddenKey(token.text)) refuseAt(cursor, token.start, `"${token.text}" cannot be read: expressions see plain data only`);
  const part = member(whole, token.text);
  if (isPunctuator(cursor, ":", 1)) {
    cursor.index += 2;
    takePart(cursor, params, part);
  } else declare(cursor, params, part);
}

function takePart(cursor: Cursor, params: Params, part: Part): void {
  if (isPunctuator(cursor, "[") || isPunctuator(cursor, "{")) takeApart(cursor, params, part);
  else if (peek(cursor).kind === "name") declare(cursor, params, part);
  else unexpected(cursor, "a name");
}

function declare(cursor: Cursor, { destructured }: Params, part: Part | null): string {
  const { text, start } = next(cursor);
  if (destructured.has(text)) refuseAt(cursor, start, `two parameters are called "${text}"`);
  destructured.set(text, part);
  return text;
}

function member(whole: Part, key: string): Part {
  return (cursor, at) => {
    const { start, end } = at;
    const node = countNode(cursor, { kind: "member", object: whole(cursor, at), key, optional: false, at: start, start, end } as const);
    // Such a member is data and not a method, so it cannot be called: the parser refuses calls of expressions in parentheses.
    cursor.grouped.add(node);
    return node;
  };
}

function separate(cursor: Cursor, close: string): void {
  if (!takePunctuator(cursor, ",") && !isPunctuator(cursor, close)) expect(cursor, ",", `or "${close}"`);
}
