import { afterAll } from "vitest";
import { queueContractOf } from "../testing/queue-contract.fixture.ts";
import { bossServer, url } from "./pg-boss-bench.fixture.ts";

const server = bossServer();
afterAll(() => server.close());

queueContractOf("pg-boss", { over: "PostgreSQL through pg-boss 12", url, atOnce: 24, bench: () => server.bench() });
