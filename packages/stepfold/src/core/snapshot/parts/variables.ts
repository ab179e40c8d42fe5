import type { Json } from "../../values/json.ts";

/** A value that a variable has been set to. */
export interface VariableValue {
  readonly value: Json;
  /** Version of the snapshot that first held the value. */
  readonly version: number;
  /**
   * What steps have added to a list, where a store holds values in encoded form and cannot put them together: each a list of items, or the
   * code of one. The store that decodes them makes one list of all (see `withAddedItems`).
   */
  readonly added?: readonly Json[];
}

/** Returns a decoded value, with everything that steps have added to it; unchanged if it is still in the encoded form of another store. */
export function withAddedItems({ added = [], ...whole }: VariableValue): VariableValue {
  const parts: readonly Json[] = [whole.value, ...added];
  if (added.length === 0) return whole;
  return parts.every((part) => Array.isArray(part)) ? { ...whole, value: parts.flat() } : { ...whole, added };
}

/** The values of variables, by name, oldest first: the latest, and those that open paths can still read. */
export type Variables = Readonly<Record<string, readonly VariableValue[]>>;

/** The variables of a scope whose steps have set none. */
export const noVariables: Variables = Object.freeze({});

/** What an event writes of the variables of its scope: whole new values, and items at the end of lists. */
export interface WrittenVariables {
  readonly variables?: Readonly<Record<string, Json>>;
  readonly appended?: Readonly<Record<string, readonly Json[]>>;
}

/** Returns the whole new values of the variables that an event writes. @param before the variables before the event */
export function wholeValues(before: Variables, { variables = {}, appended }: WrittenVariables): Readonly<Record<string, Json>> {
  if (!appended) return variables;
  const whole = { ...variables };
  for (const [name, items] of Object.entries(appended)) whole[name] = Object.freeze([...latestList(before, name), ...items]);
  return whole;
}

/** Returns the latest value of a variable that is a list. An event that does not tell values may leave another one; then it has no items. */
export function latestList(variables: Variables, name: string): readonly Json[] {
  const latest = Object.hasOwn(variables, name) ? variables[name]!.at(-1)!.value : [];
  return Array.isArray(latest) ? latest : [];
}

/** Returns the variables with the values that were set at a version. */
export function withValues(variables: Variables, values: Readonly<Record<string, Json>>, version: number): Variables {
  const changed: Record<string, readonly VariableValue[]> = { ...variables };
  for (const [name, value] of Object.entries(values)) {
    const before = Object.hasOwn(variables, name) ? variables[name]! : [];
    changed[name] = Object.freeze([...before, Object.freeze({ value, version })]);
  }
  return Object.freeze(changed);
}

/**
 * Returns the index of the value that was the latest one at a version; -1 if there was none. It is a binary search that looks at the last
 * value first.
 */
export function indexAt(values: readonly VariableValue[], version: number): number {
  let [index, end] = [-1, values.length];
  for (let next = end - 1; index + 1 < end; next = (index + end) >>> 1) {
    if (values[next]!.version <= version) index = next;
    else end = next;
  }
  return index;
}

/** True if a variable has older values besides the latest one. */
export function hasOlderValues(variables: Variables): boolean {
  return Object.values(variables).some(({ length }) => length > 1);
}

/**
 * Returns the values that can still be read: the latest value of each variable, and the values that were the latest ones when an open path
 * arrived. Returns the same object if no value is dropped.
 *
 * @param arrivals `since` of the open paths
 */
export function readableOf(variables: Variables, arrivals: readonly number[]): Variables {
  let readable: Record<string, readonly VariableValue[]> | null = null;
  for (const [name, values] of Object.entries(variables)) {
    if (values.length === 1) continue;
    const kept = new Set([values.length - 1]);
    for (const since of arrivals) kept.add(indexAt(values, since));
    kept.delete(-1);
    if (kept.size === values.length) continue;
    readable ??= { ...variables };
    readable[name] = Object.freeze(values.filter((_, index) => kept.has(index)));
  }
  return readable ? Object.freeze(readable) : variables;
}
