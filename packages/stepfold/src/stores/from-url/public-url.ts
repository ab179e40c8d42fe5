/** Parameters that hold secrets. */
const secret = /token|password|secret|key/i;

/** A store's URL for people and logs: without passwords and tokens. What is no URL stays as it is. */
export function publicUrl(url: string): string {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(url)) return url;
  try {
    const parsed = new URL(url);
    if (parsed.password !== "") parsed.password = "***";
    for (const name of [...parsed.searchParams.keys()]) if (secret.test(name)) parsed.searchParams.set(name, "***");
    return parsed.href;
  } catch {
    // not even a URL: nobody knows where in it a password is
    return `${url.slice(0, url.indexOf(":"))}://***`;
  }
}
