import type { Json } from "../values/json.ts";
import type { Permit, Rate } from "../values/shared-keys.ts";
import { count, object, text } from "./read-value.ts";

/** Checks the permit of an execution: its concurrency key and the limit. */
export function readPermit(value: Json): Permit {
  const permit = object(value, "/permit", "must be an object with key and limit");
  text(permit.key, "/permit/key");
  count(permit.limit, "/permit/limit", 1);
  return permit as unknown as Permit;
}

/** Checks the rate for which the beginning of an execution counts. */
export function readRate(value: Json): Rate {
  const rate = object(value, "/rate", "must be an object with key, limit and periodMs");
  text(rate.key, "/rate/key");
  count(rate.limit, "/rate/limit", 1);
  count(rate.periodMs, "/rate/periodMs", 1);
  return rate as unknown as Rate;
}
