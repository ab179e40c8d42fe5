import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { tieredStore } from "../../../src/stores/wrappers/tiered/index.ts";
import { wrappedContract } from "../values/wrapped-bench.fixture.ts";

const colds = new Map<string, ReturnType<typeof memoryStore>>();
/** Returns the cold store of a case, which all its handles share. Closing a handle must not close the cold store. */
function coldOf(name: string, index: number): ReturnType<typeof memoryStore> {
  const key = `${name} ${index}`;
  const cold = colds.get(key) ?? memoryStore();
  colds.set(key, cold);
  return { ...cold, features: { clock: "store", durable: true, multiProcess: true, permits: true }, close: async () => undefined };
}

wrappedContract("tiered", (hot, index) => tieredStore({ hot, cold: coldOf(hot.name, index) }));
