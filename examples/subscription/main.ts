import { createRuntime } from "stepfold/runtime";
import { memoryStore } from "stepfold/stores/memory";
import { virtualEnvironment } from "stepfold/testing";
import { type Bank, nodesOver, subscription } from "./subscription.ts";

// on a virtual clock, months pass in a moment
const environment = virtualEnvironment();
const day = 86_400_000;
const begun = environment.now();
const say = (what: string): void => console.log(`day ${String(Math.floor((environment.now() - begun) / day)).padStart(3)}  ${what}`);

let isRefundBroken = true;
const bank: Bank = {
  charge({ card, amount }) {
    say(`charges ${amount} to ${card}${card === "old card" ? ": declined" : ""}`);
    if (card === "old card") throw new Error("declined");
  },
  refund({ card, amount }) {
    say(`gives back ${amount} to ${card}${isRefundBroken ? ": the bank does not answer" : ""}`);
    if (isRefundBroken) throw new Error("the bank does not answer");
  },
};

const store = memoryStore({ now: environment.now });
const runtime = createRuntime({ store, environment, workflows: [subscription], nodeDefinitions: nodesOver(bank) });
const run = await runtime.start("subscription", { workflowId: "ada", input: { card: "old card", price: 20 } });
const days = async (count: number): Promise<void> => environment.advance(count * day);
const failures = async (): Promise<unknown> => (await run.snapshot()).variables?.failures?.at(-1)?.value;

await days(18);
say(`${await failures()} payments have failed`);
await run.signal("card", "new card");
await days(1);
say(`${await failures()} payments have failed`);
await days(60);
await run.signal("cancel");
await days(0);
isRefundBroken = false;
await days(1);
say(JSON.stringify(await run.result()));
await runtime.close();
