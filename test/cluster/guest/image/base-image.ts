import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { guestImage, type ImageRecipe } from './guest-image.ts';

const REPOSITORY = fileURLToPath(new URL('../../../../', import.meta.url));

/**
 * Runs `command` of the payload on the second disk, a tar archive: standard input and output are the second serial port,
 * errors go to the console, where the last line is the exit code. The third serial port has the pulse, which memory
 * that has run out does not end.
 */
const INIT = `#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/node_modules/.bin:/bin:/payload/usr/bin HOME=/root TMPDIR=/tmp NO_COLOR=1
mount -t devtmpfs dev /dev; exec < /dev/null > /dev/console 2>&1
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t cgroup2 cgroup /sys/fs/cgroup
echo 1 > /proc/sys/kernel/print-fatal-signals; echo 7 > /proc/sys/kernel/printk
(echo -1000 > /proc/self/oom_score_adj; while :; do echo; sleep 5; done) > /dev/ttyS2 &
ip link set lo up
mkdir /payload; cd /payload; tar -x -f /dev/nvme1n1; ln -s /node_modules node_modules
stty -F /dev/ttyS1 raw -echo
sh ./command < /dev/ttyS1 > /dev/ttyS1 2> /dev/console
status=$?; echo > /dev/console; echo GUEST-STATUS $status > /dev/console
poweroff -f
`;

/** The image that runs programs of this repository: busybox, the Node that runs here, and the packages. */
export function baseImage(busybox: string): string {
  return guestImage(baseRecipe(busybox));
}

/** What every guest has. */
export function baseRecipe(busybox: string): ImageRecipe {
  const addons = globSync('node_modules/{*,@*/*}/*.node', { cwd: REPOSITORY });
  return {
    name: 'base',
    programs: {
      '/bin/busybox': busybox,
      '/node_modules/node/bin/node': process.execPath,
      ...Object.fromEntries(addons.map((path) => [`/${path}`, `${REPOSITORY}${path}`])),
    },
    copies: { '/node_modules': `${REPOSITORY}node_modules`, '/package-lock.json': `${REPOSITORY}package-lock.json` },
    texts: {
      '/init': INIT,
      '/etc/passwd': 'root:x:0:0:root:/root:/bin/sh\n',
      '/etc/group': 'root:x:0:\n',
      '/etc/hosts': '127.0.0.1 localhost\n',
    },
  };
}
