import type { Json } from "../core/values/json.ts";
import { defineNode } from "../engine/node/define-node.ts";
import type { NodeDefinition } from "../engine/node/node-definition.ts";

/** What a `map` node is given. */
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
 * Node type `map`: runs another workflow once for each of `items`, and goes on when all have ended. Its output is the
 * list of their outputs, in the order of the items; `{ error }` for one that failed, null for one that was cancelled or
 * did not run.
 *
 * `workflow` is named as in a node of type `workflow`; it sees its item as `input`. `items` must be a list, usually from
 * an expression; anything else fails with `DATA_INVALID`.
 *
 * - `concurrency`: items under way at once; one that waits for somebody does not count. Default 16, or the limit
 *   `mapConcurrency` if that is lower.
 * - `completeWhen`: goes on early, as soon as so many items are done or, as text, as soon as an expression over
 *   `results` (outputs of the items done), `total`, `done` and `failed` is true. Numbers that come from elsewhere belong
 *   into such an expression: `"done >= input.needed"`.
 * - `remaining`: what becomes of the others then. `cancel` (default) ends them at once. `finish` lets them run to their
 *   ends, while this path goes on without them.
 * - `toleratedFailures`: items that may fail, a number or a share of all such as `"10%"`. One more fails the node with
 *   `MAP_FAILED`, and cancels the others. Default 0.
 * - `open`: more items may come, by the command `addItem`, until `closeMap`. Default: false. The command `completeMap`
 *   ends any map early.
 *
 * `timeout` of the node is how long all items together may take: after that those that have not ended are cancelled, and the path leaves by
 * the handle `timeout`, else `error`, else the execution fails (`STEP_TIMEOUT`). With a `retryPolicy` of the node a map that has failed, or
 * was not done in time, begins again with all its items. Without `timeout` it may take any time; without `retryPolicy` it is begun once.
 *
 * An edge with the handle `error` takes a failure. Its output is the error: `MAP_FAILED` with `cause`, the error of the first item that
 * failed, with its `code` and `item`. Beside `DATA_INVALID` and `MAP_FAILED` there are `DEFINITION_UNKNOWN`
 * and `INPUT_INVALID`, if the schema of the workflow refuses an item: then none runs.
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
        description: "Goes on early: with so many items done, or when an expression such as results.filter(r => r.ok).length >= 2 holds",
        type: ["integer", "string"],
        minimum: 0,
        minLength: 1,
      },
      remaining: { title: "Remaining", description: "What becomes of the other items then. Default: cancel", enum: ["cancel", "finish"] },
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
  metadata: {
    label: "Map",
    icon: "layers",
    description: "Runs another workflow for every item of a list",
    category: "flow",
    example: { workflow: "ask-supplier", items: "{{ input.suppliers }}", concurrency: 4 },
  },
  executor({ workflow, completeWhen, ...map }) {
    // as an expression it is none of the node's business: it is evaluated after every item
    return { __children: { workflow, map: typeof completeWhen === "number" ? { ...map, completeWhen } : map } };
  },
});
