import type { ReadPath } from "../../core/definition/template.ts";
import { roots } from "../compile/compile-member.ts";
import type { Arrow, Call, Expression, ListItem, Member } from "../syntax/syntax.ts";

/** Where a value may come from: it is the value at one of the paths `at`, or it is a new array whose items are the values at `items`. */
interface Origin {
  readonly at: readonly ReadPath[];
  readonly items: readonly ReadPath[];
}

interface Reader {
  /** The paths found so far, each under its JSON text. */
  readonly found: Map<string, ReadPath>;
  /** The origin of each arrow parameter that is visible at the current place. */
  locals: ReadonlyMap<string, Origin>;
}

/** The origin of a value that an expression computes. */
const newValue: Origin = { at: [], items: [] };
/** The most paths that are followed for one value; see `either`. */
const maxPaths = 32;
const itemMethods: ReadonlySet<string> = new Set(["at", "find", "findLast"]);
const sortMethods: ReadonlySet<string> = new Set(["sort", "toSorted"]);
const listMethods: ReadonlySet<string> = new Set(["slice", "filter", "reverse", "toReversed", "sort", "toSorted"]);

/**
 * Returns every path in the scope that an expression can possibly read. A path stands for the whole value at its end, and `"*"` for
 * any member. Values are followed through members, conditions and array helpers:
 * `input.items.filter(x => x.on).map(x => x.id)` reads `input.items.length`, `input.items.*.on` and `input.items.*.id`.
 */
export function readsOf(expression: Expression): readonly ReadPath[] {
  const reader: Reader = { found: new Map(), locals: new Map() };
  use(reader, visit(reader, expression));
  return [...reader.found.values()];
}

/** Notes that the whole value is read. */
function use(reader: Reader, { at, items }: Origin): void {
  for (const path of [...at, ...items]) reader.found.set(JSON.stringify(path), path);
}

/** Notes that the whole values of these expressions are read. The result is a computed value. */
function consume(reader: Reader, ...nodes: readonly Expression[]): Origin {
  for (const node of nodes) use(reader, visit(reader, node));
  return newValue;
}

function consumeItems(reader: Reader, items: readonly ListItem[]): Origin {
  return consume(reader, ...items.map((item) => item.value));
}

/**
 * Returns the origin of a value that is one of several values. Chains of conditions multiply
 * paths: above the limit `maxPaths` all of these values count as read as a whole.
 */
function either(reader: Reader, ...origins: readonly Origin[]): Origin {
  const all = { at: origins.flatMap((origin) => origin.at), items: origins.flatMap((origin) => origin.items) };
  if (all.at.length + all.items.length <= maxPaths) return all;
  use(reader, all);
  return newValue;
}

function visit(reader: Reader, node: Expression): Origin {
  switch (node.kind) {
    case "literal":
      return newValue;
    case "name":
      return reader.locals.get(node.name) ?? (roots.includes(node.name) ? { at: [[node.name]], items: [] } : newValue);
    case "chain":
      return visit(reader, node.expression);
    case "member":
      return visitMember(reader, node);
    case "call":
      return visitCall(reader, node);
    case "required":
      return visit(reader, node.operand);
    case "pattern":
      return newValue;
    case "unary":
      return consume(reader, node.operand);
    case "binary":
      return consume(reader, node.left, node.right);
    case "logical": {
      const left = visit(reader, node.left);
      use(reader, left);
      return either(reader, left, visit(reader, node.right));
    }
    case "conditional":
      consume(reader, node.test);
      return either(reader, visit(reader, node.then), visit(reader, node.otherwise));
    case "text":
      return consume(reader, ...node.values);
    case "array":
      return consumeItems(reader, node.items);
    case "object":
      return consume(
        reader,
        ...node.entries.flatMap(({ key, value }) => (typeof key === "string" || key === null ? [value] : [key, value])),
      );
  }
}

function visitMember(reader: Reader, { object, key }: Member): Origin {
  const { at, items } = visit(reader, object);
  const step = typeof key === "string" ? key : "*";
  if (typeof key !== "string") consume(reader, key);
  return { at: [...at.map((path) => [...path, step]), ...(/^(\d+|\*)$/.test(step) ? items : [])], items: [] };
}

function itemsOf({ at, items }: Origin): readonly ReadPath[] {
  return [...at.map((path) => [...path, "*"]), ...items];
}

function visitCall(reader: Reader, { receiver, name, callback, items }: Call): Origin {
  const self = receiver === null ? newValue : visit(reader, receiver);
  consumeItems(reader, items);
  // without a start value, `reduce` starts with the first item, and returns it if there is no other
  const startsWithItem = name === "reduce" && items.length === 0;
  const body = callback === null ? newValue : visitArrow(reader, callback, name, self, startsWithItem);
  const walks = callback !== null || itemMethods.has(name) || listMethods.has(name);
  if (!walks) {
    use(reader, self);
    return newValue;
  }
  use(reader, { at: self.at.map((path) => [...path, "length"]), items: [] });
  if (name === "map" || name === "flatMap") {
    use(reader, { at: [], items: body.items });
    return either(reader, { at: [], items: name === "map" ? body.at : [...body.at, ...itemsOf(body)] });
  }
  use(reader, body);
  if (itemMethods.has(name) || startsWithItem) return { at: itemsOf(self), items: [] };
  // Without an arrow function sorting compares the items themselves.
  if (callback === null && sortMethods.has(name)) use(reader, { at: [], items: itemsOf(self) });
  return listMethods.has(name) ? { at: [], items: itemsOf(self) } : newValue;
}

function visitArrow(reader: Reader, arrow: Arrow, name: string, self: Origin, startsWithItem: boolean): Origin {
  const before = reader.locals;
  const item: Origin = { at: itemsOf(self), items: [] };
  // A start value of `reduce`, and every earlier result, counts as read already.
  const first = name === "reduce" && !startsWithItem ? newValue : item;
  const second = name === "reduce" || sortMethods.has(name) ? item : newValue;
  const values = [first, second, name === "reduce" ? newValue : self];
  reader.locals = new Map([...before, ...arrow.params.map((param, index): [string, Origin] => [param, values[index]!])]);
  const body = visit(reader, arrow.body);
  reader.locals = before;
  return body;
}
