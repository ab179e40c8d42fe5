import type { Attribute, Expression } from "./dynamo-client.ts";

/** What must hold of an item for a write to happen. */
export type Test =
  | readonly [attribute: string, test: "=" | "<" | "<=", value: Attribute]
  | readonly [attribute: string, test: "outside", from: Attribute, to: Attribute]
  | readonly [attribute: string, test: "exists" | "absent"];

/** How a write changes an item. */
export interface Change {
  /** Null removes the attribute. */
  readonly set?: Readonly<Record<string, Attribute | null>>;
  readonly add?: Readonly<Record<string, number>>;
  /** All of them. */
  readonly when: readonly Test[];
}

/** A condition. No name and no value is ever text of an expression. */
export function conditionOf(tests: readonly Test[]): Expression {
  const names: Record<string, string> = {};
  const values: Record<string, unknown> = {};
  const ConditionExpression = conditionText(tests, names, values);
  return { ConditionExpression, ExpressionAttributeNames: names, ...(hasAny(values) && { ExpressionAttributeValues: values }) };
}

/** An update with its condition. */
export function updateOf({ set = {}, add = {}, when }: Change): Expression & { UpdateExpression: string } {
  const names: Record<string, string> = {};
  const values: Record<string, unknown> = {};
  const sets: string[] = [];
  const removes: string[] = [];
  const adds: string[] = [];
  for (const [attribute, value] of Object.entries(set)) {
    names[`#${attribute}`] = attribute;
    if (value === null) {
      removes.push(`#${attribute}`);
      continue;
    }
    values[`:set_${attribute}`] = value;
    sets.push(`#${attribute} = :set_${attribute}`);
  }
  for (const [attribute, value] of Object.entries(add)) {
    names[`#${attribute}`] = attribute;
    values[`:add_${attribute}`] = value;
    adds.push(`#${attribute} :add_${attribute}`);
  }
  const clauses = [clause("SET", sets), clause("REMOVE", removes), clause("ADD", adds)].filter((text) => text !== "");
  return {
    UpdateExpression: clauses.join(" "),
    ConditionExpression: conditionText(when, names, values),
    ExpressionAttributeNames: names,
    ...(hasAny(values) && { ExpressionAttributeValues: values }),
  };
}

function conditionText(tests: readonly Test[], names: Record<string, string>, values: Record<string, unknown>): string {
  const texts = tests.map((test) => {
    const [attribute, kind] = test;
    names[`#${attribute}`] = attribute;
    if (kind === "exists") return `attribute_exists(#${attribute})`;
    if (kind === "absent") return `attribute_not_exists(#${attribute})`;
    if (kind === "outside") {
      values[`:from_${attribute}`] = test[2];
      values[`:to_${attribute}`] = test[3];
      return `NOT #${attribute} BETWEEN :from_${attribute} AND :to_${attribute}`;
    }
    values[`:is_${attribute}`] = test[2];
    return `#${attribute} ${kind} :is_${attribute}`;
  });
  return texts.join(" AND ");
}

function clause(verb: string, parts: readonly string[]): string {
  return parts.length === 0 ? "" : `${verb} ${parts.join(", ")}`;
}

function hasAny(values: Record<string, unknown>): boolean {
  return Object.keys(values).length > 0;
}
