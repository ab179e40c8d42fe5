import { startCommit } from "../../commit-builder.ts";
import type { ContractCase } from "../../contract-case.ts";
import { equal, holds } from "../../expectations.ts";
import { claimFree, createClaimed, dueIds, leaseMs, shortLeaseMs } from "./claiming.ts";

/** By how many milliseconds a timer of the machine, with which a bench may wait in `advance`, may fire too early. */
const earlyMs = 2;

/** What `now` promises. */
export const clockCases: readonly ContractCase[] = [
  {
    name: "clock: the one that leases begin by",
    async run({ store, advance }) {
      const first = await store.now();
      holds(Number.isSafeInteger(first), `now is ${first}, not whole milliseconds`);
      const { claim } = await createClaimed(store, "a", shortLeaseMs);
      const second = await store.now();
      holds(first <= claim.claimedAt && claim.claimedAt <= second, `created at ${claim.claimedAt}, between ${first} and ${second}`);
      const { storeNow } = await store.renew(claim);
      const third = await store.now();
      holds(second <= storeNow && storeNow <= third, `renewed at ${storeNow}, between ${second} and ${third}`);
      await advance(shortLeaseMs + 1);
      const fourth = await store.now();
      const { claimedAt } = (await claimFree(store, "a")).claim;
      const fifth = await store.now();
      holds(fourth <= claimedAt && claimedAt <= fifth, `claimed at ${claimedAt}, between ${fourth} and ${fifth}`);
    },
  },
  {
    name: "clock: the one that says when something is due",
    async run({ store, advance }) {
      const due = (await store.now()) + leaseMs;
      await store.create(startCommit("a", { wakeAt: due }));
      equal(await dueIds(store), [], "due before its time");
      await advance(leaseMs + 1);
      const now = await store.now();
      holds(now >= due, `it is ${now} after a wait until ${due}`);
      equal(await dueIds(store), ["a"], "due when its time has come");
    },
  },
  {
    name: "clock: goes on while nothing happens",
    async run({ store, open, advance }) {
      const other = await open();
      const before = await store.now();
      await advance(leaseMs);
      const [here, there] = [await store.now(), await other.now()];
      for (const now of [here, there]) holds(now >= before + leaseMs - earlyMs, `${leaseMs} ms after ${before} it is ${now}`);
      holds(there >= here, `another handle says ${there} after ${here}`);
    },
  },
];
