import { createRuntime } from "stepfold/runtime";
import { memoryStore } from "stepfold/stores/memory";
import { virtualEnvironment } from "stepfold/testing";
import { type Services, saga } from "./saga.ts";

// on a virtual clock, the minutes between attempts pass in a moment
const environment = virtualEnvironment();
let isTold = false;
const services: Services = {
  async reserve(item) {
    console.log(`reserves a ${item}`);
    return { reservation: item };
  },
  async charge(card) {
    console.log(`charges ${card}`);
    return { receipt: card };
  },
  async ship() {
    if (!isTold) console.log("has no parcel service today");
    isTold = true;
    throw new Error("no parcel service today");
  },
  async undo(request) {
    console.log(request === "charge" ? "gives visa its money back" : "releases the book");
  },
};

const store = memoryStore({ now: environment.now });
const runtime = createRuntime({ store, environment, workflows: [saga], globals: { services } });
const run = await runtime.start(saga, { input: { item: "book", card: "visa" } });
await environment.advance(60 * 60_000);
const { status, error } = await run.snapshot();
console.log(`${status}: ${error?.message}`);
await runtime.close();
