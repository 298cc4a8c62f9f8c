/**
 * Fills memory with data that waits in sockets, as any pod can without a right: `node fill-sockets.ts BYTES_PER_SECOND
 * MAX_BYTES`. The kernel charges next to nothing of it to the pod's group.
 */
import { writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';

const [rate = 0, most = 0] = process.argv.slice(2).map(Number);
/** What the kernel lets wait in one direction of a connection (net.core.wmem_default). */
const BYTES = 212_992;
const TICK_MS = 20;
/** Connections that may wait to be accepted; the kernel refuses more than the backlog of 511. */
const WAITING = 256;
const NOBODY = 65_534;
const PATH = '\0plimsoll-full-sockets';

const held: Socket[] = [];
const accepted: Socket[] = [];
const data = Buffer.alloc(4 * BYTES);
let startedAt = 0;

function fill(): void {
  startedAt ||= performance.now();
  const wanted = Math.min(most, ((performance.now() - startedAt) / 1000) * rate, (accepted.length + WAITING) * BYTES);
  while (held.length * BYTES < wanted) {
    const socket = connect(PATH);
    socket.write(data);
    held.push(socket);
  }
  if (held.length * BYTES >= most) clearInterval(filling);
}

// What the kubelet gives to BestEffort pods: an OOM killer selects it first.
writeFileSync('/proc/self/oom_score_adj', '1000');
process.setgid?.(NOBODY);
process.setuid?.(NOBODY);
let filling: NodeJS.Timeout | undefined;
createServer({ pauseOnConnect: true }, (socket) => accepted.push(socket)).listen(PATH, () => {
  filling = setInterval(fill, TICK_MS);
});
