#include "textflag.h"

// 16 words of 1, to add pairs of words into doublewords.
DATA ones16<>+0(SB)/8, $0x0001000100010001
DATA ones16<>+8(SB)/8, $0x0001000100010001
DATA ones16<>+16(SB)/8, $0x0001000100010001
DATA ones16<>+24(SB)/8, $0x0001000100010001
GLOBL ones16<>(SB), RODATA|NOPTR, $32

// A step is eight inputs; these are four |x| and their mask twice, of one token.
#define Q8INPUT(abs0, mask0, abs1, mask1) \
	VPBROADCASTD abs0, Y9   \
	VPBROADCASTD mask0, Y10 \
	VPBROADCASTD abs1, Y11  \
	VPBROADCASTD mask1, Y12

// Eight inputs, eight outputs of one token. Where x is below zero its mask is all ones, so that |x| (w ^ mask) is x w - |x|;
// what is missing is the same for all outputs and is in sum from the start of the block. A word takes two such products.
#define Q8PRODUCTS(w0, w1) \
	VPXOR      w0, Y10, Y13  \
	VPMADDUBSW Y13, Y9, Y13  \
	VPXOR      w1, Y12, Y14  \
	VPMADDUBSW Y14, Y11, Y14

// The weights are so small that a word holds the products of both fours of inputs.
#define Q8NARROW(w0, w1, sum) \
	Q8PRODUCTS(w0, w1)       \
	VPADDW     Y14, Y13, Y13 \
	VPMADDWD   Y8, Y13, Y13  \
	VPADDD     Y13, sum, sum

#define Q8WIDE(w0, w1, sum) \
	Q8PRODUCTS(w0, w1)       \
	VPMADDWD   Y8, Y13, Y13  \
	VPMADDWD   Y8, Y14, Y14  \
	VPADDD     Y13, sum, sum \
	VPADDD     Y14, sum, sum

// Step i of a block, 32 outputs of two tokens.
#define Q8STEP(form, i) \
	Q8INPUT((16*i)(R8), (16*i+4)(R8), (16*i+8)(R8), (16*i+12)(R8)) \
	form((256*i)(SI), (256*i+128)(SI), Y0)    \
	form((256*i+32)(SI), (256*i+160)(SI), Y1) \
	form((256*i+64)(SI), (256*i+192)(SI), Y2) \
	form((256*i+96)(SI), (256*i+224)(SI), Y3) \
	Q8INPUT((16*i)(R8)(R9*1), (16*i+4)(R8)(R9*1), (16*i+8)(R8)(R9*1), (16*i+12)(R8)(R9*1)) \
	form((256*i)(SI), (256*i+128)(SI), Y4)    \
	form((256*i+32)(SI), (256*i+160)(SI), Y5) \
	form((256*i+64)(SI), (256*i+192)(SI), Y6) \
	form((256*i+96)(SI), (256*i+224)(SI), Y7)

// A block of one token is done: add its integer sums times its scale to what dst holds.
#define Q8SCALE(scale, to, a, b, c, d) \
	VBROADCASTSS scale, Y9       \
	VCVTDQ2PS    a, a            \
	VCVTDQ2PS    b, b            \
	VCVTDQ2PS    c, c            \
	VCVTDQ2PS    d, d            \
	VFMADD213PS  (to), Y9, a     \
	VFMADD213PS  32(to), Y9, b   \
	VFMADD213PS  64(to), Y9, c   \
	VFMADD213PS  96(to), Y9, d   \
	VMOVUPS      a, (to)         \
	VMOVUPS      b, 32(to)       \
	VMOVUPS      c, 64(to)       \
	VMOVUPS      d, 96(to)

// All blocks are done: times the scales of the weights, plus bias.
#define Q8FINISH(i) \
	VMOVUPS      (32*i)(AX), Y0     \
	VMOVUPS      (32*i)(BX), Y1     \
	VMOVUPS      (32*i)(DI), Y2     \
	VMOVUPS      (32*i)(DX), Y3     \
	VFMADD213PS  Y1, Y0, Y2         \
	VFMADD213PS  Y1, Y0, Y3         \
	VMOVUPS      Y2, (32*i)(DI)     \
	VMOVUPS      Y3, (32*i)(DX)

// The parts of the two forms of q8Dot2: the arguments, the sums of a block, its end, and the end of the tile.
#define Q8BEGIN \
	MOVQ dst+0(FP), DI \
	MOVQ dstStride+8(FP), DX \
	MOVQ w+16(FP), SI \
	MOVQ wide+24(FP), R11 \
	MOVQ x+32(FP), R8 \
	MOVQ xStride+40(FP), R9 \
	MOVQ xs+48(FP), R12 \
	MOVQ below+56(FP), R10 \
	MOVQ xsStride+64(FP), BX \
	MOVQ blocks+72(FP), CX \
	ADDQ DI, DX \
	VMOVDQU ones16<>(SB), Y8 \
	VXORPS Y0, Y0, Y0 \
	VMOVUPS Y0, (DI) \
	VMOVUPS Y0, 32(DI) \
	VMOVUPS Y0, 64(DI) \
	VMOVUPS Y0, 96(DI) \
	VMOVUPS Y0, (DX) \
	VMOVUPS Y0, 32(DX) \
	VMOVUPS Y0, 64(DX) \
	VMOVUPS Y0, 96(DX)

#define Q8SUMS \
	VPBROADCASTD (R10), Y0 \
	VPBROADCASTD (R10)(BX*1), Y4 \
	VMOVDQA Y0, Y1 \
	VMOVDQA Y0, Y2 \
	VMOVDQA Y0, Y3 \
	VMOVDQA Y4, Y5 \
	VMOVDQA Y4, Y6 \
	VMOVDQA Y4, Y7

#define Q8BLOCKEND \
	Q8SCALE((R12), DI, Y0, Y1, Y2, Y3) \
	Q8SCALE((R12)(BX*1), DX, Y4, Y5, Y6, Y7) \
	ADDQ $1024, SI \
	ADDQ $64, R8 \
	ADDQ $4, R12 \
	ADDQ $4, R10 \
	INCQ R11

#define Q8END \
	MOVQ scale+80(FP), AX \
	MOVQ bias+88(FP), BX \
	Q8FINISH(0) \
	Q8FINISH(1) \
	Q8FINISH(2) \
	Q8FINISH(3) \
	VZEROUPPER \
	RET

// With AVX-512 VNNI the products of fours are added up at once, whatever the weights.
#define Q8VNNI(w0, w1, sum) \
	VPXOR    w0, Y10, Y13 \
	VPXOR    w1, Y12, Y14 \
	VPDPBUSD Y13, Y9, sum \
	VPDPBUSD Y14, Y11, sum

// Token t of four inputs. Weights 0..15 are unsigned as they are; eight pairs of products stay below 2^15 (8*2*15*127), so
// words are added first.
#define Q4TOKEN(address, lo, hi) \
	VPBROADCASTD address, Y14  \
	VPMADDUBSW   Y14, Y12, Y15 \
	VPMADDUBSW   Y14, Y13, Y14 \
	VPADDW       Y15, lo, lo   \
	VPADDW       Y14, hi, hi

// The same in doublewords.
#define Q4VNNI(address, lo, hi) \
	VPBROADCASTD address, Y14  \
	VPDPBUSD     Y14, Y12, lo  \
	VPDPBUSD     Y14, Y13, hi

#define Q4QUAD(form, i) \
	VMOVDQU (64*i)(SI), Y12               \
	VMOVDQU (64*i+32)(SI), Y13            \
	form((4*i)(R8), Y0, Y1)            \
	form((4*i)(R8)(R9*1), Y2, Y3)      \
	form((4*i)(R8)(R9*2), Y4, Y5)

#define Q4WIDEN(a) VPMADDWD ones16<>(SB), a, a
#define Q4KEEP(a)

// A block of token t is done: words to doublewords, minus 8 times the sum of x, times both scales (Y12 and Y13: d).
#define Q4SCALE(widen, corrAddress, address, lo, hi, sumLo, sumHi) \
	VPBROADCASTD corrAddress, Y14         \
	widen(lo)                             \
	widen(hi)                             \
	VPADDD       Y14, lo, lo              \
	VPADDD       Y14, hi, hi              \
	VBROADCASTSS address, Y14             \
	VCVTDQ2PS    lo, lo                   \
	VCVTDQ2PS    hi, hi                   \
	VMULPS       Y12, Y14, Y15            \
	VMULPS       Y13, Y14, Y14            \
	VFMADD231PS  Y15, lo, sumLo           \
	VFMADD231PS  Y14, hi, sumHi

#define Q4DOT3(form, widen) \
	MOVQ dst+0(FP), DI \
	MOVQ dstStride+8(FP), DX \
	MOVQ w+16(FP), SI \
	MOVQ d+24(FP), R11 \
	MOVQ x+32(FP), R8 \
	MOVQ xStride+40(FP), R9 \
	MOVQ xs+48(FP), R12 \
	MOVQ corr+56(FP), AX \
	MOVQ xsStride+64(FP), BX \
	MOVQ blocks+72(FP), CX \
	VXORPS Y6, Y6, Y6 \
	VXORPS Y7, Y7, Y7 \
	VXORPS Y8, Y8, Y8 \
	VXORPS Y9, Y9, Y9 \
	VXORPS Y10, Y10, Y10 \
	VXORPS Y11, Y11, Y11 \
q4block: \
	VPXOR Y0, Y0, Y0 \
	VPXOR Y1, Y1, Y1 \
	VPXOR Y2, Y2, Y2 \
	VPXOR Y3, Y3, Y3 \
	VPXOR Y4, Y4, Y4 \
	VPXOR Y5, Y5, Y5 \
	Q4QUAD(form, 0) \
	Q4QUAD(form, 1) \
	Q4QUAD(form, 2) \
	Q4QUAD(form, 3) \
	Q4QUAD(form, 4) \
	Q4QUAD(form, 5) \
	Q4QUAD(form, 6) \
	Q4QUAD(form, 7) \
	VMOVUPS (R11), Y12 \
	VMOVUPS 32(R11), Y13 \
	Q4SCALE(widen, (AX), (R12), Y0, Y1, Y6, Y7) \
	Q4SCALE(widen, (AX)(BX*1), (R12)(BX*1), Y2, Y3, Y8, Y9) \
	Q4SCALE(widen, (AX)(BX*2), (R12)(BX*2), Y4, Y5, Y10, Y11) \
	ADDQ $512, SI \
	ADDQ $64, R11 \
	ADDQ $32, R8 \
	ADDQ $4, R12 \
	ADDQ $4, AX \
	DECQ CX \
	JNZ  q4block \
	MOVQ bias+80(FP), BX \
	VMOVUPS (BX), Y0 \
	VMOVUPS 32(BX), Y1 \
	VADDPS Y0, Y6, Y6 \
	VADDPS Y1, Y7, Y7 \
	VADDPS Y0, Y8, Y8 \
	VADDPS Y1, Y9, Y9 \
	VADDPS Y0, Y10, Y10 \
	VADDPS Y1, Y11, Y11 \
	VMOVUPS Y6, (DI) \
	VMOVUPS Y7, 32(DI) \
	VMOVUPS Y8, (DI)(DX*1) \
	VMOVUPS Y9, 32(DI)(DX*1) \
	VMOVUPS Y10, (DI)(DX*2) \
	VMOVUPS Y11, 32(DI)(DX*2) \
	VZEROUPPER \
	RET

// func q8Dot2AVX2(dst *float32, dstStride uintptr, w *int8, wide *uint8, x *int8, xStride uintptr, xs *float32, below *int32, xsStride uintptr, blocks int, scale, bias *float32)
TEXT ·q8Dot2AVX2(SB), NOSPLIT, $0-96
	Q8BEGIN

q8block:
	Q8SUMS
	MOVBLZX (R11), AX
	TESTL $1, AX
	JNZ  wide0
	Q8STEP(Q8NARROW, 0)
q8step1:
	TESTL $2, AX
	JNZ  wide1
	Q8STEP(Q8NARROW, 1)
q8step2:
	TESTL $4, AX
	JNZ  wide2
	Q8STEP(Q8NARROW, 2)
q8step3:
	TESTL $8, AX
	JNZ  wide3
	Q8STEP(Q8NARROW, 3)
q8scale:
	Q8BLOCKEND
	DECQ CX
	JNZ  q8block
	Q8END

wide0:
	Q8STEP(Q8WIDE, 0)
	JMP  q8step1
wide1:
	Q8STEP(Q8WIDE, 1)
	JMP  q8step2
wide2:
	Q8STEP(Q8WIDE, 2)
	JMP  q8step3
wide3:
	Q8STEP(Q8WIDE, 3)
	JMP  q8scale

// func q8Dot2VNNI(dst *float32, dstStride uintptr, w *int8, wide *uint8, x *int8, xStride uintptr, xs *float32, below *int32, xsStride uintptr, blocks int, scale, bias *float32)
TEXT ·q8Dot2VNNI(SB), NOSPLIT, $0-96
	Q8BEGIN

q8block:
	Q8SUMS
	Q8STEP(Q8VNNI, 0)
	Q8STEP(Q8VNNI, 1)
	Q8STEP(Q8VNNI, 2)
	Q8STEP(Q8VNNI, 3)
	Q8BLOCKEND
	DECQ CX
	JNZ  q8block
	Q8END

// func q4Dot3AVX2(dst *float32, dstStride uintptr, w *uint8, d *float32, x *int8, xStride uintptr, xs *float32, corr *int32, xsStride uintptr, blocks int, bias *float32)
TEXT ·q4Dot3AVX2(SB), NOSPLIT, $0-88
	Q4DOT3(Q4TOKEN, Q4WIDEN)

// func q4Dot3VNNI(dst *float32, dstStride uintptr, w *uint8, d *float32, x *int8, xStride uintptr, xs *float32, corr *int32, xsStride uintptr, blocks int, bias *float32)
TEXT ·q4Dot3VNNI(SB), NOSPLIT, $0-88
	Q4DOT3(Q4VNNI, Q4KEEP)
