import { queueContractOf } from "../testing/queue-contract.fixture.ts";
import { sqsBench, url } from "./sqs-bench.fixture.ts";

queueContractOf("sqs", { over: "SQS's emulator, a standard queue", url, atOnce: 12, bench: () => sqsBench() });
