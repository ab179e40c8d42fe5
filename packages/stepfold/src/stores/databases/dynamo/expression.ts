import type { Attribute, DynamoExpression } from "./dynamo-client.ts";

/** A condition on an item. */
export type Test =
  | readonly [attribute: string, test: "=" | "<=", value: Attribute]
  | readonly [attribute: string, test: "contains", value: string]
  | readonly [attribute: string, test: "in", values: readonly string[]]
  | readonly [attribute: string, test: "exists" | "absent"]
  | { readonly either: readonly Test[] };

/** Attributes of an item; null removes the attribute. */
export type Attributes = Readonly<Record<string, Attribute | null>>;

/**
 * The conditions of an expression, which must all hold. Names and values are placeholders, so the expression contains no text of a user.
 */
export class Conditions {
  readonly names: Record<string, string> = {};
  readonly values: Record<string, unknown> = {};
  readonly text: string;

  constructor(tests: readonly Test[]) {
    this.text = tests.map((test) => this.#test(test)).join(" AND ");
  }

  name(name: string): string {
    this.names[`#${name}`] = name;
    return `#${name}`;
  }

  value(value: Attribute): string {
    const placeholder = `:v${Object.keys(this.values).length}`;
    this.values[placeholder] = value;
    return placeholder;
  }

  #test(test: Test): string {
    if ("either" in test) return `(${test.either.map((one) => this.#test(one)).join(" OR ")})`;
    const name = this.name(test[0]);
    if (test.length === 2) return `attribute_${test[1] === "exists" ? "exists" : "not_exists"}(${name})`;
    if (test[1] === "contains") return `contains(${name}, ${this.value(test[2])})`;
    if (test[1] === "in") return `${name} IN (${test[2].map((value) => this.value(value)).join(", ")})`;
    return `${name} ${test[1]} ${this.value(test[2])}`;
  }
}

/** Makes the condition of a write. */
export function conditionOf(tests: readonly Test[]): DynamoExpression {
  return fieldsOf(new Conditions(tests));
}

/** Makes an update with its condition. */
export function updateOf(set: Attributes, tests: readonly Test[]): DynamoExpression & { UpdateExpression: string } {
  const conditions = new Conditions(tests);
  const sets = Object.entries(withoutNulls(set)).map(([name, value]) => `${conditions.name(name)} = ${conditions.value(value)}`);
  const removed = Object.entries(set).flatMap(([name, value]) => (value === null ? conditions.name(name) : []));
  const clauses = Object.entries({ SET: sets, REMOVE: removed }).filter(([, parts]) => parts.length > 0);
  const UpdateExpression = clauses.map(([verb, parts]) => `${verb} ${parts.join(", ")}`).join(" ");
  return { UpdateExpression, ...fieldsOf(conditions) };
}

/** Returns the attributes that are not null. */
export function withoutNulls(attributes: Attributes): Record<string, Attribute> {
  return Object.fromEntries(Object.entries(attributes).filter((entry): entry is [string, Attribute] => entry[1] !== null));
}

function fieldsOf({ text, names, values }: Conditions): DynamoExpression {
  const given = Object.keys(values).length > 0 ? { ExpressionAttributeValues: values } : {};
  return { ConditionExpression: text, ExpressionAttributeNames: names, ...given };
}
