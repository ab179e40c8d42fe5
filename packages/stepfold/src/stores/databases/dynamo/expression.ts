import type { Attribute, DynamoExpression } from "./dynamo-client.ts";

/** What must hold of an item for a write to be made. */
export type Test =
  | readonly [attribute: string, test: "=" | "<=", value: Attribute]
  | readonly [attribute: string, test: "exists" | "absent"]
  | readonly [test: "either", first: Test, second: Test];

/** How a write changes an item. */
export interface Change {
  /** Null removes the attribute. */
  readonly set: Readonly<Record<string, Attribute | null>>;
  /** All of them. */
  readonly when: readonly Test[];
}

/** A condition. No name and no value is ever text of an expression. */
export function conditionOf(tests: readonly Test[]): DynamoExpression {
  const placeholders = new Placeholders();
  const ConditionExpression = placeholders.all(tests);
  return { ConditionExpression, ...placeholders.fields };
}

/** An update with its condition. */
export function updateOf({ set, when }: Change): DynamoExpression & { UpdateExpression: string } {
  const placeholders = new Placeholders();
  const sets = Object.entries(set).flatMap(([name, value]) =>
    value === null ? [] : [`${placeholders.name(name)} = ${placeholders.value(value)}`],
  );
  const removed = Object.entries(set).flatMap(([name, value]) => (value === null ? [placeholders.name(name)] : []));
  const clauses = [sets.length > 0 ? `SET ${sets.join(", ")}` : "", removed.length > 0 ? `REMOVE ${removed.join(", ")}` : ""];
  return { UpdateExpression: clauses.join(" ").trim(), ConditionExpression: placeholders.all(when), ...placeholders.fields };
}

/** What stands for the names and values in an expression. */
class Placeholders {
  readonly #names: Record<string, string> = {};
  readonly #values: Record<string, unknown> = {};

  get fields(): DynamoExpression {
    const hasValues = Object.keys(this.#values).length > 0;
    return { ExpressionAttributeNames: this.#names, ...(hasValues && { ExpressionAttributeValues: this.#values }) };
  }

  name(name: string): string {
    this.#names[`#${name}`] = name;
    return `#${name}`;
  }

  value(value: Attribute): string {
    const placeholder = `:v${Object.keys(this.#values).length}`;
    this.#values[placeholder] = value;
    return placeholder;
  }

  all(tests: readonly Test[]): string {
    return tests.map((test) => this.#test(test)).join(" AND ");
  }

  #test(test: Test): string {
    if (test[0] === "either") return `(${this.#test(test[1] as Test)} OR ${this.#test(test[2] as Test)})`;
    const [name, kind, value] = test as readonly [string, string, Attribute];
    if (kind === "exists") return `attribute_exists(${this.name(name)})`;
    if (kind === "absent") return `attribute_not_exists(${this.name(name)})`;
    return `${this.name(name)} ${kind} ${this.value(value)}`;
  }
}
