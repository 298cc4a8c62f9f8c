const GIVEN = process.env['PLIMSOLL_TEST_SEED'];

/** The seed of the first episode; each next one has the next number. `PLIMSOLL_TEST_SEED` asks for another. */
export const FIRST_SEED = GIVEN === undefined ? 20_261_124 : Number(GIVEN);
