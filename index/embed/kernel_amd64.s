#include "textflag.h"

// 16 words of 1, to add pairs of words into doublewords.
DATA ones16<>+0(SB)/8, $0x0001000100010001
DATA ones16<>+8(SB)/8, $0x0001000100010001
DATA ones16<>+16(SB)/8, $0x0001000100010001
DATA ones16<>+24(SB)/8, $0x0001000100010001
GLOBL ones16<>(SB), RODATA|NOPTR, $32

// 32 bytes of 1.
DATA ones8<>+0(SB)/8, $0x0101010101010101
DATA ones8<>+8(SB)/8, $0x0101010101010101
DATA ones8<>+16(SB)/8, $0x0101010101010101
DATA ones8<>+24(SB)/8, $0x0101010101010101
GLOBL ones8<>(SB), RODATA|NOPTR, $32

// Order of the doublewords after two lane-wise packs.
DATA unpack<>+0(SB)/8, $0x0000000400000000
DATA unpack<>+8(SB)/8, $0x0000000500000001
DATA unpack<>+16(SB)/8, $0x0000000600000002
DATA unpack<>+24(SB)/8, $0x0000000700000003
GLOBL unpack<>(SB), RODATA|NOPTR, $32

DATA absMask<>+0(SB)/4, $0x7FFFFFFF
GLOBL absMask<>(SB), RODATA|NOPTR, $4
DATA f127<>+0(SB)/4, $0x42FE0000       // 127
GLOBL f127<>(SB), RODATA|NOPTR, $4
DATA fTiny<>+0(SB)/4, $0x1120FDDB      // 127e-30: below it a block counts as zero
GLOBL fTiny<>(SB), RODATA|NOPTR, $4

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

// func q8Dot2(dst *float32, dstStride uintptr, w *int8, wide *uint8, x *int8, xStride uintptr, xs *float32, below *int32, xsStride uintptr, blocks int, scale, bias *float32)
TEXT ·q8Dot2(SB), NOSPLIT, $0-96
	MOVQ dst+0(FP), DI
	MOVQ dstStride+8(FP), DX
	MOVQ w+16(FP), SI
	MOVQ wide+24(FP), R11
	MOVQ x+32(FP), R8
	MOVQ xStride+40(FP), R9
	MOVQ xs+48(FP), R12
	MOVQ below+56(FP), R10
	MOVQ xsStride+64(FP), BX
	MOVQ blocks+72(FP), CX
	ADDQ DI, DX
	VMOVDQU ones16<>(SB), Y8
	VXORPS Y0, Y0, Y0
	VMOVUPS Y0, (DI)
	VMOVUPS Y0, 32(DI)
	VMOVUPS Y0, 64(DI)
	VMOVUPS Y0, 96(DI)
	VMOVUPS Y0, (DX)
	VMOVUPS Y0, 32(DX)
	VMOVUPS Y0, 64(DX)
	VMOVUPS Y0, 96(DX)

q8block:
	VPBROADCASTD (R10), Y0
	VPBROADCASTD (R10)(BX*1), Y4
	VMOVDQA Y0, Y1
	VMOVDQA Y0, Y2
	VMOVDQA Y0, Y3
	VMOVDQA Y4, Y5
	VMOVDQA Y4, Y6
	VMOVDQA Y4, Y7
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
	Q8SCALE((R12), DI, Y0, Y1, Y2, Y3)
	Q8SCALE((R12)(BX*1), DX, Y4, Y5, Y6, Y7)
	ADDQ $1024, SI
	ADDQ $64, R8
	ADDQ $4, R12
	ADDQ $4, R10
	INCQ R11
	DECQ CX
	JNZ  q8block

	MOVQ scale+80(FP), AX
	MOVQ bias+88(FP), BX
	Q8FINISH(0)
	Q8FINISH(1)
	Q8FINISH(2)
	Q8FINISH(3)
	VZEROUPPER
	RET

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

// Token t of four inputs. Weights 0..15 are unsigned as they are; eight pairs of products stay below 2^15 (8*2*15*127), so
// words are added first.
#define Q4TOKEN(address, lo, hi) \
	VPBROADCASTD address, Y14  \
	VPMADDUBSW   Y14, Y12, Y15 \
	VPMADDUBSW   Y14, Y13, Y14 \
	VPADDW       Y15, lo, lo   \
	VPADDW       Y14, hi, hi

#define Q4QUAD(i) \
	VMOVDQU (64*i)(SI), Y12               \
	VMOVDQU (64*i+32)(SI), Y13            \
	Q4TOKEN((4*i)(R8), Y0, Y1)            \
	Q4TOKEN((4*i)(R8)(R9*1), Y2, Y3)      \
	Q4TOKEN((4*i)(R8)(R9*2), Y4, Y5)

// A block of token t is done: words to doublewords, minus 8 times the sum of x, times both scales (Y12 and Y13: d).
#define Q4SCALE(corrAddress, address, lo, hi, sumLo, sumHi) \
	VPBROADCASTD corrAddress, Y14         \
	VPMADDWD     ones16<>(SB), lo, lo     \
	VPMADDWD     ones16<>(SB), hi, hi     \
	VPADDD       Y14, lo, lo              \
	VPADDD       Y14, hi, hi              \
	VBROADCASTSS address, Y14             \
	VCVTDQ2PS    lo, lo                   \
	VCVTDQ2PS    hi, hi                   \
	VMULPS       Y12, Y14, Y15            \
	VMULPS       Y13, Y14, Y14            \
	VFMADD231PS  Y15, lo, sumLo           \
	VFMADD231PS  Y14, hi, sumHi

// func q4Dot3(dst *float32, dstStride uintptr, w *uint8, d *float32, x *int8, xStride uintptr, xs *float32, corr *int32, xsStride uintptr, blocks int, bias *float32)
TEXT ·q4Dot3(SB), NOSPLIT, $0-88
	MOVQ dst+0(FP), DI
	MOVQ dstStride+8(FP), DX
	MOVQ w+16(FP), SI
	MOVQ d+24(FP), R11
	MOVQ x+32(FP), R8
	MOVQ xStride+40(FP), R9
	MOVQ xs+48(FP), R12
	MOVQ corr+56(FP), AX
	MOVQ xsStride+64(FP), BX
	MOVQ blocks+72(FP), CX
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7
	VXORPS Y8, Y8, Y8
	VXORPS Y9, Y9, Y9
	VXORPS Y10, Y10, Y10
	VXORPS Y11, Y11, Y11

q4block:
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	VPXOR Y4, Y4, Y4
	VPXOR Y5, Y5, Y5
	Q4QUAD(0)
	Q4QUAD(1)
	Q4QUAD(2)
	Q4QUAD(3)
	Q4QUAD(4)
	Q4QUAD(5)
	Q4QUAD(6)
	Q4QUAD(7)
	VMOVUPS (R11), Y12
	VMOVUPS 32(R11), Y13
	Q4SCALE((AX), (R12), Y0, Y1, Y6, Y7)
	Q4SCALE((AX)(BX*1), (R12)(BX*1), Y2, Y3, Y8, Y9)
	Q4SCALE((AX)(BX*2), (R12)(BX*2), Y4, Y5, Y10, Y11)
	ADDQ $512, SI
	ADDQ $64, R11
	ADDQ $32, R8
	ADDQ $4, R12
	ADDQ $4, AX
	DECQ CX
	JNZ  q4block

	MOVQ bias+80(FP), BX
	VMOVUPS (BX), Y0
	VMOVUPS 32(BX), Y1
	VADDPS Y0, Y6, Y6
	VADDPS Y1, Y7, Y7
	VADDPS Y0, Y8, Y8
	VADDPS Y1, Y9, Y9
	VADDPS Y0, Y10, Y10
	VADDPS Y1, Y11, Y11
	VMOVUPS Y6, (DI)
	VMOVUPS Y7, 32(DI)
	VMOVUPS Y8, (DI)(DX*1)
	VMOVUPS Y9, 32(DI)(DX*1)
	VMOVUPS Y10, (DI)(DX*2)
	VMOVUPS Y11, 32(DI)(DX*2)
	VZEROUPPER
	RET

// func quantizeBlocks(q, split *int8, scale *float32, corr, below *int32, x *float32, blocks int)
TEXT ·quantizeBlocks(SB), NOSPLIT, $0-56
	MOVQ q+0(FP), DI
	MOVQ split+8(FP), R9
	MOVQ scale+16(FP), SI
	MOVQ corr+24(FP), DX
	MOVQ below+32(FP), R10
	MOVQ x+40(FP), R8
	MOVQ blocks+48(FP), CX
	VPXOR Y15, Y15, Y15
	VBROADCASTSS absMask<>(SB), Y10
	VMOVSS f127<>(SB), X11
	VMOVSS fTiny<>(SB), X12
	VMOVDQU unpack<>(SB), Y13
	VMOVDQU ones8<>(SB), Y14
	VMOVDQU ones16<>(SB), Y9

quantblock:
	VMOVUPS (R8), Y0
	VMOVUPS 32(R8), Y1
	VMOVUPS 64(R8), Y2
	VMOVUPS 96(R8), Y3
	VANDPS Y10, Y0, Y4
	VANDPS Y10, Y1, Y5
	VANDPS Y10, Y2, Y6
	VANDPS Y10, Y3, Y7
	VMAXPS Y4, Y5, Y4
	VMAXPS Y6, Y7, Y6
	VMAXPS Y4, Y6, Y4
	VEXTRACTF128 $1, Y4, X5
	VMAXPS X5, X4, X4
	VPSHUFD $0x4E, X4, X5
	VMAXPS X5, X4, X4
	VPSHUFD $0xB1, X4, X5
	VMAXPS X5, X4, X4
	VMAXSS X12, X4, X4
	VDIVSS X11, X4, X5              // scale = max / 127
	VMOVSS X5, (SI)
	VDIVSS X4, X11, X6              // 127 / max
	VBROADCASTSS X6, Y6
	VMULPS Y6, Y0, Y0
	VMULPS Y6, Y1, Y1
	VMULPS Y6, Y2, Y2
	VMULPS Y6, Y3, Y3
	VCVTPS2DQ Y0, Y0                // to nearest, ties to even
	VCVTPS2DQ Y1, Y1
	VCVTPS2DQ Y2, Y2
	VCVTPS2DQ Y3, Y3
	VPACKSSDW Y1, Y0, Y0
	VPACKSSDW Y3, Y2, Y2
	VPACKSSWB Y2, Y0, Y0
	VPERMD Y0, Y13, Y0
	VMOVDQU Y0, (DI)
	VPABSB Y0, Y4
	VPCMPGTB Y0, Y15, Y5            // 0 > q
	VPUNPCKLDQ Y5, Y4, Y6           // fours of |q| and of its mask, in turn
	VPUNPCKHDQ Y5, Y4, Y7
	VPERM2I128 $0x20, Y7, Y6, Y8
	VPERM2I128 $0x31, Y7, Y6, Y6
	VMOVDQU Y8, (R9)
	VMOVDQU Y6, 32(R9)
	VPAND Y5, Y4, Y4
	VPSADBW Y15, Y4, Y4             // sums of eight |q| below zero
	VEXTRACTI128 $1, Y4, X5
	VPADDD X5, X4, X4
	VPSHUFD $0x4E, X4, X5
	VPADDD X5, X4, X4
	VMOVD X4, (R10)
	VPMADDUBSW Y0, Y14, Y1          // 1 * q, pairs
	VPMADDWD Y9, Y1, Y1
	VEXTRACTI128 $1, Y1, X2
	VPADDD X2, X1, X1
	VPSHUFD $0x4E, X1, X2
	VPADDD X2, X1, X1
	VPSHUFD $0xB1, X1, X2
	VPADDD X2, X1, X1
	VMOVD X1, AX
	SHLL $3, AX
	NEGL AX
	MOVL AX, (DX)
	ADDQ $32, DI
	ADDQ $64, R9
	ADDQ $4, SI
	ADDQ $4, DX
	ADDQ $4, R10
	ADDQ $128, R8
	DECQ CX
	JNZ  quantblock
	VZEROUPPER
	RET

// func gemm4x16(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr, k int)
TEXT ·gemm4x16(SB), NOSPLIT, $0-56
	MOVQ dst+0(FP), DI
	MOVQ dstStride+8(FP), DX
	MOVQ a+16(FP), R8
	MOVQ aStride+24(FP), R9
	MOVQ b+32(FP), SI
	MOVQ bStride+40(FP), BX
	MOVQ k+48(FP), CX
	LEAQ (R8)(R9*2), R10
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7

gemmloop:
	VMOVUPS (SI), Y8
	VMOVUPS 32(SI), Y9
	VBROADCASTSS (R8), Y10
	VBROADCASTSS (R8)(R9*1), Y11
	VBROADCASTSS (R8)(R9*2), Y12
	VBROADCASTSS (R10)(R9*1), Y13
	VFMADD231PS Y8, Y10, Y0
	VFMADD231PS Y9, Y10, Y1
	VFMADD231PS Y8, Y11, Y2
	VFMADD231PS Y9, Y11, Y3
	VFMADD231PS Y8, Y12, Y4
	VFMADD231PS Y9, Y12, Y5
	VFMADD231PS Y8, Y13, Y6
	VFMADD231PS Y9, Y13, Y7
	ADDQ BX, SI
	ADDQ $4, R8
	ADDQ $4, R10
	DECQ CX
	JNZ  gemmloop

	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	ADDQ DX, DI
	VMOVUPS Y2, (DI)
	VMOVUPS Y3, 32(DI)
	ADDQ DX, DI
	VMOVUPS Y4, (DI)
	VMOVUPS Y5, 32(DI)
	ADDQ DX, DI
	VMOVUPS Y6, (DI)
	VMOVUPS Y7, 32(DI)
	VZEROUPPER
	RET

// Constants of gelu, one float32 each: see geluConstants.
// func gelu8(x *float32, groups int, c *[20]float32)
TEXT ·gelu8(SB), NOSPLIT, $0-24
	MOVQ x+0(FP), DI
	MOVQ groups+8(FP), CX
	MOVQ c+16(FP), SI
	VBROADCASTSS absMask<>(SB), Y15
	VBROADCASTSS (SI), Y14          // sqrt 1/2
	VBROADCASTSS 4(SI), Y13         // p
	VBROADCASTSS 8(SI), Y12         // 1

geluloop:
	VMOVUPS (DI), Y0
	VMULPS Y14, Y0, Y1
	VANDPS Y15, Y1, Y1              // a = |x| sqrt 1/2
	VMOVAPS Y12, Y2
	VFMADD231PS Y13, Y1, Y2
	VDIVPS Y2, Y12, Y2              // t = 1 / (1 + p a)
	VBROADCASTSS 12(SI), Y3
	VBROADCASTSS 16(SI), Y4
	VFMADD213PS Y4, Y2, Y3
	VBROADCASTSS 20(SI), Y4
	VFMADD213PS Y4, Y2, Y3
	VBROADCASTSS 24(SI), Y4
	VFMADD213PS Y4, Y2, Y3
	VBROADCASTSS 28(SI), Y4
	VFMADD213PS Y4, Y2, Y3
	VMULPS Y2, Y3, Y3               // polynomial of t
	VMULPS Y1, Y1, Y1
	VBROADCASTSS 32(SI), Y4
	VMINPS Y4, Y1, Y1               // a a, at most 87
	VBROADCASTSS 36(SI), Y4
	VMULPS Y4, Y1, Y5               // -log2 e
	VROUNDPS $0, Y5, Y5             // n
	VBROADCASTSS 40(SI), Y4
	VFNMADD213PS Y4, Y12, Y1        // r = 0 - a a
	VBROADCASTSS 44(SI), Y4
	VFMADD231PS Y4, Y5, Y1          // - n ln2, high
	VBROADCASTSS 48(SI), Y4
	VFMADD231PS Y4, Y5, Y1          // - n ln2, low
	VBROADCASTSS 52(SI), Y6
	VBROADCASTSS 56(SI), Y4
	VFMADD213PS Y4, Y1, Y6
	VBROADCASTSS 60(SI), Y4
	VFMADD213PS Y4, Y1, Y6
	VBROADCASTSS 64(SI), Y4
	VFMADD213PS Y4, Y1, Y6
	VBROADCASTSS 68(SI), Y4
	VFMADD213PS Y4, Y1, Y6
	VBROADCASTSS 72(SI), Y4
	VFMADD213PS Y4, Y1, Y6
	VMULPS Y1, Y1, Y7
	VADDPS Y12, Y1, Y1
	VFMADD231PS Y6, Y7, Y1          // e^r
	VCVTPS2DQ Y5, Y5
	VPSLLD $23, Y5, Y5
	VPADDD Y5, Y1, Y1               // e^(-a a)
	VFNMADD213PS Y12, Y3, Y1        // erf a = 1 - polynomial e^(-a a)
	VANDNPS Y0, Y15, Y2             // sign of x
	VORPS Y2, Y1, Y1
	VADDPS Y12, Y1, Y1
	VBROADCASTSS 76(SI), Y4
	VMULPS Y4, Y0, Y0
	VMULPS Y1, Y0, Y0
	VMOVUPS Y0, (DI)
	ADDQ $32, DI
	DECQ CX
	JNZ  geluloop
	VZEROUPPER
	RET
