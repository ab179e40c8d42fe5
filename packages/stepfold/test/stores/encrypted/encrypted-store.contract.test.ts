import { encryptedStore } from "../../../src/stores/wrappers/encrypted/index.ts";
import { wrappedContract } from "../values/wrapped-bench.fixture.ts";

const keys = [{ id: "2026-01", key: crypto.getRandomValues(new Uint8Array(32)) }];
const searchKey = crypto.getRandomValues(new Uint8Array(32));

wrappedContract("encrypted", (inner) => encryptedStore(inner, { keys, searchKey }));
