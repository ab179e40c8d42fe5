import type { Permit } from "../snapshot/snapshot.ts";
import type { Json } from "../values/json.ts";
import { count, object, text } from "./read-value.ts";

/** What an execution needs to be driven, checked. */
export function readPermit(value: Json): Permit {
  const permit = object(value, "/permit", "must be an object with key and limit");
  text(permit.key, "/permit/key");
  count(permit.limit, "/permit/limit", 1);
  return permit as unknown as Permit;
}
