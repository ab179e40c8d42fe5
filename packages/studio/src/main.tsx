import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app/app.tsx";
import { randomKey } from "./form/random-key.ts";
import { SafeStorage } from "./session/safe-storage.ts";
import { Session } from "./session/session.ts";
import { tabStorage } from "./session/tab-storage.ts";
import { takeToken } from "./session/token.ts";
import { TokenSharing } from "./session/token-sharing.ts";
import "./styles/base.css";

const browser = new SafeStorage(() => localStorage);

// pages of the same origin, and no others, hear each other
const tabs = new TokenSharing(() => new BroadcastChannel("stepfold.token"), randomKey());

// before anything else: the token must not stay in the address
takeToken(location, history, tabStorage);
const session = new Session(location.origin, tabStorage, (url, init) => fetch(url, init), tabs);
// a link with a token that is opened in this tab changes only the fragment
addEventListener("hashchange", () => {
  const token = takeToken(location, history, tabStorage);
  if (token !== null) session.signIn(token);
});

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <App session={session} storage={browser} />
  </StrictMode>,
);
