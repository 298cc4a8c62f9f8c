/** Where only this machine listens; `::1` in a network namespace that has no other address. */
export const LOOPBACK = process.env['PLIMSOLL_TEST_LOOPBACK'] ?? '127.0.0.1';
