// The few parts of Node that the client and the flows use, so that its types need no package.
declare const process: { env: Record<string, string | undefined>; exit(status: number): never };

declare module "node:crypto" {
  export function createHmac(hash: string, key: Uint8Array): { update(data: string): Hmac; digest(form: "base64"): string };
  interface Hmac {
    digest(form: "base64"): string;
  }
  export function randomUUID(): string;
  export function timingSafeEqual(one: Uint8Array, other: Uint8Array): boolean;
}

declare module "node:fs" {
  export function readdirSync(folder: string): string[];
  export function readFileSync(file: string, encoding: "utf8"): string;
}

declare const Buffer: { from(text: string, encoding?: "base64" | "utf8"): Uint8Array };
