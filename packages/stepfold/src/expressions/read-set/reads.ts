import type { ReadPath } from "../../core/definition/template.ts";
import { roots } from "../compile/compile-member.ts";
import type { Arrow, Call, Expression, ListItem, Member } from "../syntax/syntax.ts";

/** Where a value may come from: it lies at one of `at`, or is a new array whose items lie at `items`. */
interface Origin {
  readonly at: readonly ReadPath[];
  readonly items: readonly ReadPath[];
}

interface Reader {
  readonly found: Map<string, ReadPath>;
  locals: ReadonlyMap<string, Origin>;
}

const newValue: Origin = { at: [], items: [] };
const maxPaths = 32;
const itemMethods: ReadonlySet<string> = new Set(["at", "find", "findLast"]);
const sortMethods: ReadonlySet<string> = new Set(["sort", "toSorted"]);
const listMethods: ReadonlySet<string> = new Set(["slice", "filter", "reverse", "toReversed", "sort", "toSorted"]);

/**
 * Everything an expression can possibly read, as paths into its scope. A path stands for the whole value at its end;
 * `"*"` for any member. Values are followed through members, conditions and array helpers:
 * `input.items.filter(x => x.on).map(x => x.id)` reads `input.items.length`, `input.items.*.on` and `input.items.*.id`.
 */
export function readsOf(expression: Expression): readonly ReadPath[] {
  const reader: Reader = { found: new Map(), locals: new Map() };
  use(reader, visit(reader, expression));
  return [...reader.found.values()];
}

/** Notes that all of a value is read. */
function use(reader: Reader, { at, items }: Origin): void {
  for (const path of [...at, ...items]) reader.found.set(JSON.stringify(path), path);
}

function consume(reader: Reader, ...nodes: readonly Expression[]): Origin {
  for (const node of nodes) use(reader, visit(reader, node));
  return newValue;
}

function consumeItems(reader: Reader, items: readonly ListItem[]): Origin {
  return consume(reader, ...items.map((item) => item.value));
}

/** One of several values. Chains of conditions multiply paths: past a limit the whole values count as read. */
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
  const body = callback === null ? newValue : visitArrow(reader, callback, name, self);
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
  if (itemMethods.has(name)) return { at: itemsOf(self), items: [] };
  // Without an arrow function sorting compares the items themselves.
  if (callback === null && sortMethods.has(name)) use(reader, { at: [], items: itemsOf(self) });
  return listMethods.has(name) ? { at: [], items: itemsOf(self) } : newValue;
}

function visitArrow(reader: Reader, arrow: Arrow, name: string, self: Origin): Origin {
  const before = reader.locals;
  const item: Origin = { at: itemsOf(self), items: [] };
  // What reduce carries along was used when it was made: the start value as an argument, the rest as a result.
  const first = name === "reduce" ? newValue : item;
  const second = name === "reduce" || sortMethods.has(name) ? item : newValue;
  const values = [first, second, name === "reduce" ? newValue : self];
  reader.locals = new Map([...before, ...arrow.params.map((param, index): [string, Origin] => [param, values[index]!])]);
  const body = visit(reader, arrow.body);
  reader.locals = before;
  return body;
}
