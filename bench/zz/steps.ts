import { readFileSync } from 'node:fs';
import { createAuthority, issueServerCertificate } from '#shared/http/certificates.ts';
import { validateBody, startRig } from '../webhook/rig.ts';
import { postRequest, reviewClient } from '../webhook/review-client.ts';
import { startServer } from '../webhook/server-process.ts';
const now = Date.now(); const authority = createAuthority({ commonName: 'b', days: 1, now });
const leaf = issueServerCertificate(authority, { dnsNames: ['localhost'], ipAddresses: ['127.0.0.1'], days: 1, now });
const request = postRequest('/validate', validateBody());
const rig = await startRig();
const subs: { name: string; s: typeof rig.webhook; clients: Awaited<ReturnType<typeof reviewClient>>[]; us: number[]; perS: number[] }[] = [];
const names = ['0 bare', '1 +parse', '2 +depth', '3 +decode', '4 +decide', '5 +encode', '6 +metrics'];
for (const [i, name] of names.entries()) { const s = await startServer(new URL('step-server.ts', import.meta.url).pathname, [], { BENCH_CERT: leaf.certPem, BENCH_KEY: leaf.keyPem, STEP: String(i) }); subs.push({ name, s, clients: await Promise.all(Array.from({ length: 16 }, () => reviewClient(s.port))), us: [], perS: [] }); }
subs.push({ name: 'webhook', s: rig.webhook, clients: await Promise.all(Array.from({ length: 16 }, () => reviewClient(rig.webhook.port))), us: [], perS: [] });
for (let b = 0; b < Number(process.argv[2] ?? 7); b++) for (const sub of subs) {
  const until = performance.now() + (b === 0 ? 1500 : 700); let n = 0; const c = sub.s.cpuMs(); const t = performance.now();
  await Promise.all(sub.clients.map(async (cl) => { while (performance.now() < until) { await cl.send(request); n++; } }));
  if (b > 0) { sub.us.push((sub.s.cpuMs() - c) / n * 1000); sub.perS.push(n / (performance.now() - t) * 1000); }
}
const med = (v: number[]) => v.toSorted((a, b) => a - b)[v.length >> 1]!;
for (const s of subs) { console.log(s.name.padEnd(12), 'median', med(s.us).toFixed(1), 'min', Math.min(...s.us).toFixed(1), 'perS', med(s.perS).toFixed(0)); for (const c of s.clients) c.close(); }
console.log('load', readFileSync('/proc/loadavg', 'utf8').slice(0, 4));
for (const s of subs.slice(0, -1)) await s.s.stop(); await rig.stop();
