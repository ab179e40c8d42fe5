import { BadInput } from "../bad-input.ts";

/** Checks a token that the user has chosen. @throws BadInput `USAGE` */
export function allowedToken(text: string): string {
  if (/^[!-~]{16,1024}$/.test(text)) return text;
  throw new BadInput("USAGE", "--token must be 16 to 1,024 characters without a blank", {
    hint: "Leave it out for one of 43 random characters",
  });
}
