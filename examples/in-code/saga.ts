import { defineDurable, defineNode, type StepContext } from "stepfold";
import { z } from "zod";

/** The services of a shop. The same key means the same request, however often it is made. */
export interface Services {
  reserve(item: string, key: string): Promise<{ readonly reservation: string }>;
  charge(card: string, key: string): Promise<{ readonly receipt: string }>;
  ship(reservation: string, key: string): Promise<{ readonly parcel: string }>;
  /** Undoes the request that was made under a key, if it was made. */
  undo(request: "reserve" | "charge", key: string): Promise<void>;
}

interface Globals {
  readonly services: Services;
}

/** Undoes a request: also one of which nobody knows whether it was made, because the process died. */
const undo = (request: "reserve" | "charge") =>
  defineNode({
    async executor(_data, { compensating, globals }: StepContext<unknown, Globals>) {
      if (compensating?.idempotencyKey) await globals.services.undo(request, compensating.idempotencyKey);
      return { data: null };
    },
  });

/** An order in three steps. If one of them fails for good, or the order is cancelled, those before it are undone, the newest first. */
export const saga = defineDurable({
  id: "saga",
  input: z.object({ item: z.string(), card: z.string() }),
  nodes: { release: undo("reserve"), refund: undo("charge") },
  async run({ input, step }, { services }: Globals) {
    const { reservation } = await step.run("reserve", { undo: { type: "release" } }, (sub) =>
      services.reserve(input.item, sub.idempotencyKey),
    );
    const { receipt } = await step.run("charge", { undo: { type: "refund" } }, (sub) => services.charge(input.card, sub.idempotencyKey));
    const { parcel } = await step.run("ship", { retry: { maxAttempts: 5, interval: "1m" } }, (sub) =>
      services.ship(reservation, sub.idempotencyKey),
    );
    return { receipt, parcel };
  },
});
