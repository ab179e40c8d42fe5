import pg from "pg";
import { serviceUrl } from "../../../../scripts/servers/service-url.ts";
import { postgresFeed } from "../../src/feeds/postgres/index.ts";
import { feedContractOf } from "./feed-contract.fixture.ts";

const url = await serviceUrl("postgres");
const pool = new pg.Pool({ connectionString: url ?? "", max: 2 });
const feedOf = (channel: string) => postgresFeed(pool, () => new pg.Client({ connectionString: url ?? "" }), { channel });

feedContractOf("postgres", {
  url,
  async bench(index) {
    const channel = `feed_${process.pid}_${index}`;
    return {
      feed: feedOf(channel),
      open: async () => feedOf(channel),
      openElsewhere: async () => feedOf(`${channel}_other`),
      inject: async (text) => void (await pool.query("SELECT pg_notify($1, $2)", [channel, text])),
      patienceMs: 5_000,
    };
  },
  close: () => pool.end(),
});
