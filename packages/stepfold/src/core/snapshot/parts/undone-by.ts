import type { Json } from "../../values/json.ts";

/** What undoes a step that code has asked for: a step of this node type, with this data. */
export interface UndoneBy {
  readonly type: string;
  readonly data?: Json;
}
