import { queueContractOf } from "../testing/queue-contract.fixture.ts";
import { natsBench, url } from "./nats-bench.fixture.ts";

queueContractOf("nats", { over: "NATS JetStream", url, atOnce: 8, bench: natsBench });
