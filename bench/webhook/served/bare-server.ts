/** The floor: `node:https` that reads the whole body and answers a fixed AdmissionReview. Prints its port; key and certificate come by environment. */
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

const ANSWER = JSON.stringify({
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  response: { uid: '00000000-0000-0000-0000-000000000000', allowed: true },
});
const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(ANSWER) };
const server = createServer(
  {
    cert: process.env['BENCH_CERT'],
    key: process.env['BENCH_KEY'],
    minVersion: 'TLSv1.2',
    ALPNProtocols: ['http/1.1'],
    noDelay: true,
  },
  (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      Buffer.concat(chunks);
      response.writeHead(200, headers).end(ANSWER);
    });
  },
);
server.keepAliveTimeout = 95_000;
server.listen(0, '127.0.0.1', () => console.log(`{"port":${(server.address() as AddressInfo).port}}`));
process.on('SIGTERM', () => process.exit(0));
