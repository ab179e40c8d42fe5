import type { Json } from "../core/values/json.ts";
import { defineNode } from "../engine/node/define-node.ts";
import type { NodeDefinition } from "../engine/node/node-definition.ts";

/** The data (input) of a `map` node; `mapNode` describes the fields. */
export interface MapData {
  readonly workflow: string;
  readonly items: readonly Json[];
  readonly concurrency?: number | undefined;
  readonly completeWhen?: number | string | undefined;
  readonly remaining?: "finish" | "cancel" | undefined;
  readonly open?: boolean | undefined;
  readonly toleratedFailures?: number | string | undefined;
}

/**
 * Node type `map`: runs another workflow once for each of `items`, and continues when all have ended. Its output is the list of their
 * outputs in the order of the items. A failed item gives `{ error }`; an item that was cancelled or did not run gives null.
 *
 * `workflow` names a workflow as in a node of type `workflow`, which gets the item as `input`. `items` must be a list, usually from an
 * expression; anything else fails with `DATA_INVALID`.
 *
 * - `concurrency`: how many items run at the same time; an item that only waits, for an answer, a signal or a time, does not count.
 *   Default: 16, or the limit `mapConcurrency` if that is lower.
 * - `completeWhen`: the map completes early. A number means: as soon as so many items are done (completed). A text is an expression over
 *   `results` (the outputs of the items that are done), `total`, `done` and `failed`: as soon as it is true, or as soon as so many items
 *   are done as its value says. Use such an expression also for a number that is not fixed: `"done >= input.needed"`.
 * - `remaining`: what happens to the other items then. `cancel` (default) ends them at once. `finish` lets them run to their ends while
 *   this path continues without them.
 * - `toleratedFailures`: how many items may fail, as a number or a share of all such as `"10%"`. One more fails the node with
 *   `MAP_FAILED` and cancels the others. While a map is `open`, a share is not judged yet. Default: 0.
 * - `open`: with true, the command `addItem` can add items until the command `closeMap`, and the map does not end before. Default: false.
 *   The command `completeMap` completes any map early.
 *
 * The `timeout` of the node limits the time of all items together. After that, the items that have not ended are cancelled, and the path
 * leaves by the handle `timeout`, or else by `error`; without both, the execution fails (`STEP_TIMEOUT`). With a `retryPolicy` of the
 * node, a map that fails or does not end in time begins again with all its items. Without `timeout` there is no time limit; without
 * `retryPolicy` the map begins only once.
 *
 * If the map fails, the path leaves by an edge with the handle `error`. Its output is the error: `MAP_FAILED` has as `cause` the error of
 * the failed item with the lowest position, with its `code` and `item`. Other codes are for example `DATA_INVALID`, `DEFINITION_UNKNOWN`,
 * and `INPUT_INVALID` if the schema of the workflow refuses an item: then no item runs.
 *
 * ```ts
 * const offers = {
 *   id: "offers",
 *   type: "map",
 *   data: { workflow: "ask-supplier", items: "{{ input.suppliers }}", completeWhen: 3, toleratedFailures: "50%" },
 * };
 * // one item's wait: await run.resume({ step: "offers[2]/quote", payload: { price: 40 } });
 * ```
 */
export const mapNode: NodeDefinition<MapData, readonly Json[]> = defineNode<MapData, readonly Json[]>({
  input: {
    title: "Map",
    type: "object",
    properties: {
      workflow: {
        title: "Workflow",
        description: "The workflow to run for each item: its name in workflows",
        type: "string",
        minLength: 1,
      },
      items: { title: "Items", description: "A list. Each item is the input of one run", type: "array" },
      concurrency: { title: "Concurrency", description: "Items under way at once. Default 16", type: "integer", minimum: 1 },
      completeWhen: {
        title: "Complete when",
        description:
          "Completes early: when so many items are done, or when an expression such as results.filter(r => r.ok).length >= 2 holds",
        type: ["integer", "string"],
        minimum: 0,
        minLength: 1,
      },
      remaining: { title: "Remaining", description: "What happens to the other items then. Default: cancel", enum: ["cancel", "finish"] },
      open: { title: "Open", description: "Items may be added until the map is closed. Default: no", type: "boolean" },
      toleratedFailures: {
        title: "Tolerated failures",
        description: "Items that may fail: a number, or a share such as 10%. Default 0",
        type: ["integer", "string"],
        minimum: 0,
        pattern: "^(?:\\d{1,2}(?:\\.\\d{1,3})?|100(?:\\.0{1,3})?)%$",
      },
    },
    required: ["workflow", "items"],
    additionalProperties: false,
  },
  waits: true,
  pointless: ["heartbeatTimeout"],
  guards: ["workflow", "concurrency", "completeWhen", "remaining", "open", "toleratedFailures"],
  metadata: {
    label: "Map",
    icon: "layers",
    description: "Runs another workflow for every item of a list",
    category: "flow",
    example: { workflow: "ask-supplier", items: "{{ input.suppliers }}", concurrency: 4 },
  },
  executor({ workflow, completeWhen, ...map }) {
    // A `completeWhen` that is an expression is not passed on: the engine reads it in the definition and evaluates it after every item.
    return { __children: { workflow, map: typeof completeWhen === "number" ? { ...map, completeWhen } : map } };
  },
});
