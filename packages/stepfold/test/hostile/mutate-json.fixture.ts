import { isJsonObject, type Json } from "../../src/core/values/json.ts";

/** A place in a JSON value. */
interface Place {
  readonly pointer: string;
  /** The list or object that holds the value, and the value's index or name in it. */
  readonly holder: Json[] | Record<string, Json>;
  readonly key: string;
}

type Pick = <T>(choices: readonly T[]) => T;

/** Pointers to values of users. Such values may be anything, so changing one of them tests nothing. */
const free = /^\/(?:metadata|input|output)\b|\/(?:payload|suspendPayload|input|output|schema)\b|^\/mapItems\/[^/]+\/\d/;

/** Pointers to results. There are many of them and they say little about the state of an execution, so they are changed less often. */
const result = /\/(?:context|compensations)\//;

/** Changes one place of a JSON value in place, and returns a description of the change. */
export function mutate(value: Json, pick: Pick): string {
  const before = JSON.stringify(value);
  for (;;) {
    const told = mutateOnce(value, pick);
    if (JSON.stringify(value) !== before) return told;
  }
}

function mutateOnce(value: Json, pick: Pick): string {
  const places: Place[] = [];
  collect(value, "", places);
  const standing = places.filter(({ pointer }) => !result.test(pointer));
  const place = pick(pick([true, true, true, true, false]) ? standing : places);
  const { holder, key, pointer } = place;
  const entries = holder as Record<string, Json>;
  const before = entries[key]!;
  const told = (what: string): string => `${what} ${pointer} (was ${JSON.stringify(before)?.slice(0, 60)})`;
  switch (pick(["delete", "value", "value", "value", "other", "other", "twin", "rename", "add"])) {
    case "delete":
      if (Array.isArray(holder)) holder.splice(Number(key), 1);
      else delete holder[key];
      return told("delete");
    case "twin":
      if (Array.isArray(holder)) holder.push(copyOf(before));
      else holder[`${key}${pick(["x", "/0", ">0#1", "1"])}`] = copyOf(before);
      return told("twin");
    case "rename": {
      const { key: name } = pick(places);
      delete entries[key];
      define(entries, pick([name, "__proto__", "constructor", "toString", "0#1", "0#1/0", "0#9/1", `${key}>0#1`]), before);
      return told(`rename to ${name}`);
    }
    case "add": {
      const name = pick([
        "__proto__",
        "toString",
        "undoes",
        "waits",
        "children",
        "draining",
        "ending",
        "rounds",
        "kept",
        "queued",
        "resumed",
        "waves",
      ]);
      const from = pick(places);
      if (isJsonObject(before)) define(before as Record<string, Json>, name, copyOf((from.holder as Record<string, Json>)[from.key]!));
      return told(`add ${name} of ${from.pointer} to`);
    }
    case "other": {
      // the new value is a copy from another place, usually from a place with the same key
      const same = places.filter((other) => other.key === key);
      const from = pick(pick([true, true, false]) ? same : places);
      entries[key] = copyOf((from.holder as Record<string, Json>)[from.key]!);
      return told(`copy ${from.pointer} to`);
    }
    default:
      entries[key] = otherThan(before, pick);
      return `${told("set")} to ${JSON.stringify(entries[key])}`;
  }
}

function otherThan(before: Json, pick: Pick): Json {
  if (typeof before === "number")
    return pick([-1, 0, 1, 1.5, before + 1, before - 1, before * 2, 2 ** 53, 2 ** 53 - 1, 1e300, 8.64e15 + 1, String(before), null]);
  if (typeof before === "string") {
    const statuses = ["ready", "held", "joining", "retrying", "suspended", "active", "paused", "error", "completed", "failed", "cancelled"];
    return pick([
      ...statuses,
      "",
      "x",
      "__proto__",
      "toString",
      "0",
      "0.1",
      "undo",
      "item",
      "leaf",
      "each",
      "all",
      "pay",
      "timer",
      "child",
      5,
      null,
      [],
    ]);
  }
  return pick<Json>([null, true, false, 5, -1, "x", [], {}, [null], [[]], { x: 1 }, [{}]]);
}

function collect(value: Json, pointer: string, places: Place[]): void {
  if (typeof value !== "object" || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    const at = `${pointer}/${key}`;
    if (free.test(at)) continue;
    places.push({ pointer: at, holder: value as Place["holder"], key });
    collect(member, at, places);
  }
}

function copyOf(value: Json): Json {
  return JSON.parse(JSON.stringify(value)) as Json;
}

/** Defines a member as JSON.parse does: `__proto__` becomes an own member too. */
function define(holder: Record<string, Json>, key: string, value: Json): void {
  Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true });
}
