// Numbers as they are read.

/** Words with a true minus sign before each number, and in its exponent; hyphens join words.
 * @param {string} words */
export const withMinusSigns = (words) => words.replace(/(^|[^\w)\]]|\de)-(?=\.?\d)/g, "$1−")
